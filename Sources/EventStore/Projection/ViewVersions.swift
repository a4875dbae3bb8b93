/// The version of each view of a release, by its name.
package struct ViewVersions: Sendable {
    private var versions: [String: Int64]

    /// Those of this release.
    package static let current = ViewVersions(
        versions: Dictionary(uniqueKeysWithValues: ViewDatabase.types.map { ($0.name, $0.version) }))

    /// The release that changes one view.
    package func changing(_ name: String) -> ViewVersions {
        var changed = self
        changed.versions[name, default: 0] += 1
        return changed
    }

    func version(of view: any View.Type) -> Int64 { versions[view.name] ?? view.version }
}
