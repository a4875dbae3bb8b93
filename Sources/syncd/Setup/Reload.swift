internal import CommandLineKit
internal import EventStore

/// What a new reading of the configuration changes in a running daemon: all of it, or nothing.
struct Reload {
    struct Change: Equatable, CustomStringConvertible {
        let path: String
        let before: String
        let after: String
        let origin: ConfigurationOrigin

        var description: String { "\(path): \(before) is \(after) now (\(origin))" }
    }

    let changes: [Change]
    let configuration: DaemonConfiguration

    /// Refuses the whole if a key has changed that only a new start takes.
    init(from present: DaemonConfiguration, to settings: Settings) throws(CommandFailure) {
        configuration = settings.configuration
        var changes: [Change] = []
        var fixed: [Change] = []
        for setting in ConfigurationSetting.all {
            let change = Change(
                path: setting.path, before: setting.show(present), after: setting.show(settings.configuration),
                origin: settings.loaded.origin(of: setting.path))
            guard change.before != change.after else { continue }
            if setting.isReloadable { changes.append(change) } else { fixed.append(change) }
        }
        guard fixed.isEmpty else {
            let list = fixed.map(\.description).joined(separator: "; ")
            throw CommandFailure(
                code: "E_CONFIG", "a running daemon cannot take this: \(list)",
                hint: "start syncd anew, or put back what was there", exitCode: .configuration)
        }
        self.changes = changes
    }
}

/// The values of the configuration that a running daemon may be given anew.
///
/// ## Concurrency model
/// One lock around the configuration that is in effect.
final class LiveConfiguration: Sendable {
    private let state: Lock<DaemonConfiguration>

    init(_ configuration: DaemonConfiguration) { state = Lock(configuration) }

    var current: DaemonConfiguration { state.withLock { $0 } }

    /// Free bytes below which appends are refused.
    var minFree: UInt64 { state.withLock { $0.storage.minFree } }

    func take(_ configuration: DaemonConfiguration) { state.withLock { $0 = configuration } }
}
