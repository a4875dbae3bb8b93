internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient
internal import SyncEngine

/// Answers a shell that completes a name (``StoreNames``). Peers and subscriptions are the daemon's.
enum NameCompletion {
    /// What is printed, if the command line asks for names.
    static func answer(_ words: [String], _ terminal: Terminal) -> String? {
        guard words.first == CommandTable.namesOption else { return nil }
        guard words.count > 1, let kind = StoreNames.Kind(rawValue: words[1]) else { return "" }
        StoreNames.startClock()
        let named = (words.count > 3 ? words[3] : nil) ?? terminal.environment["SYNCCTL_STORE"]
        let folders = named.map { [$0] } ?? StoreLocation.usual
        guard let files = folders.map({ StoreFiles($0) }).first(where: \.exists) else { return "" }
        let names =
            switch kind {
            case .users, .conversations, .types: StoreNames.recent(kind, files)
            case .peers: peers(files)
            case .subscriptions: told(files, Route.subscriptions.path).compactMap { $0.string("name") }
            }
        return StoreNames.lines(names, beginning: words.count > 2 ? words[2] : "")
    }

    private static func peers(_ files: StoreFiles) -> [String] {
        guard StoreLock.owner(files) != nil else { return (try? PeersFile.load(files))?.map(\.name) ?? [] }
        let told = told(files, Route.peers.path).flatMap { $0.elements("peers") ?? [] }.compactMap(\.object)
        return told.compactMap { $0.string("name") }
    }

    private static func told(_ files: StoreFiles, _ path: String) -> [JSONObject] {
        guard let daemon = (try? DaemonClient.running(files)).flatMap({ $0 }),
            let answer = try? ClientRequest(target: path, timeout: StoreNames.patience).send(to: daemon.place),
            answer.status == 200
        else { return [] }
        return answer.body.split(separator: UInt8(ascii: "\n")).map { JSONObject(validated: Array($0)) }
    }
}
