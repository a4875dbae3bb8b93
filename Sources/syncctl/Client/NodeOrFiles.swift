internal import CommandLineKit
internal import EventStore

/// Where a command about a node does its work: at a daemon, the one that `--url` names or the one that has the store here open; else at the
/// files of that store.
enum NodeOrFiles {
    case daemon(DaemonClient)
    case files(StoreFiles)

    init(_ session: Session) throws(CommandFailure) {
        if let named = try DaemonClient.named(by: session) {
            self = .daemon(named)
            return
        }
        let files = try StoreLocation.find(for: session).files
        self = if let daemon = try DaemonClient.running(files) { .daemon(daemon) } else { .files(files) }
    }
}
