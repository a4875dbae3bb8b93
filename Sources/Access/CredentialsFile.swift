package import EventStore

/// The tokens that this node alone has given: `credentials.json` of its store, mode 0600. It holds roles that no event can grant.
///
/// `{"credentials":[{"credential":…,"principal":…,"roles":[…],"until":…,"verifier":"<64 hex digits>"}]}`
package struct CredentialsFile: Sendable {
    private struct Entry {
        let grant: AccessGrant
        let verifier: Digest
    }

    private let path: String
    private var entries: [CredentialID: Entry] = [:]

    /// - Throws: `E_STORE_FILE` where it cannot be understood: better no daemon than one that lets in others.
    package init(_ files: StoreFiles) throws(StoreError) {
        path = files.folder + "/credentials.json"
        guard let bytes = try SmallFile.read(path) else { return }
        let object: JSONObject
        do { object = try JSONObject(validating: bytes) } catch { throw unusable("\(error)") }
        guard let elements = object.elements("credentials") else { throw unusable("no list 'credentials'") }
        for element in elements {
            guard let one = element.object, let grant = AccessGrant(one),
                let verifier = one.string("verifier").flatMap({ hexBytes($0) }).flatMap({ Digest(bytes: $0) })
            else { throw unusable("a credential with a member that is missing or of another form") }
            entries[grant.credential] = Entry(grant: grant, verifier: verifier)
        }
    }

    private func unusable(_ why: String) -> StoreError {
        .badFile(
            "\(path) cannot be read: \(why)",
            wayOut: "mend it, or move it away and make the tokens again: syncctl tokens create")
    }

    package func grant(of token: AccessToken, at now: Int64) -> AccessGrant? {
        guard let entry = entries[token.id], !entry.grant.isOver(at: now), token.matches(entry.verifier) else {
            return nil
        }
        return entry.grant
    }

    /// What it has under this id, whether it is over or not.
    package func grant(_ id: CredentialID) -> AccessGrant? { entries[id]?.grant }

    package mutating func add(_ grant: AccessGrant, _ verifier: Digest) throws(StoreError) {
        entries[grant.credential] = Entry(grant: grant, verifier: verifier)
        try save()
    }

    package mutating func remove(_ id: CredentialID) throws(StoreError) {
        guard entries.removeValue(forKey: id) != nil else { return }
        try save()
    }

    private func save() throws(StoreError) {
        let lines = entries.values.sorted { $0.grant.credential < $1.grant.credential }.map {
            #"{\#($0.grant.text),"verifier":"\#($0.verifier)"}"#
        }
        let text = #"{"credentials":["# + "\n" + lines.joined(separator: ",\n") + "\n]}\n"
        try SmallFile.replace(path, with: Array(text.utf8), mode: 0o600)
    }
}
