internal import CommandLineKit
internal import EventStore
internal import Glibc

/// Names that shells complete: `syncctl --complete KIND PREFIX [STORE]`. It answers within 300 ms or not at all, changes nothing, and
/// says nothing of what went wrong: the user is typing.
enum StoreNames {
    /// What can be asked for.
    enum Kind: String, CaseIterable {
        case users, conversations, types, peers, subscriptions
    }

    /// How long it may take in all, in milliseconds.
    static let patience = 300
    private static let most = 200
    /// So many events at the end of the log are looked at.
    private static let recent: UInt64 = 3_000

    /// Ends the process where the time is over, whatever it waits for.
    static func startClock() {
        _ = signal(SIGALRM) { _ in _exit(0) }
        var timer = itimerval()
        timer.it_value.tv_usec = __suseconds_t((patience - 50) * 1_000)
        setitimer(__itimer_which_t(0), &timer, nil)
    }

    /// The names of users, conversations and types at the end of the log, the latest first.
    static func recent(_ kind: Kind, _ files: StoreFiles) -> [String] {
        guard let reader = try? LogReader(files), let top = try? reader.top() else { return [] }
        var names: [String] = []
        let start = top - min(top, recent)
        _ = try? reader.scan(after: start, limit: Int(top - start)) { stored in
            let header = stored.event.header
            guard !header.isOpaque else { return true }
            switch kind {
            case .users: names += [header.user, header.author].filter { !$0.hasPrefix("node/") }
            case .conversations: if let conversation = header.conversation { names.append(conversation) }
            case .types: names.append(header.type)
            case .peers, .subscriptions: break
            }
            return true
        }
        return names.reversed()
    }

    /// Those that begin so, each once, one a line. A name with a control character would be more than a line, or act on the terminal.
    static func lines(_ names: [String], beginning prefix: String) -> String {
        var seen: Set<String> = []
        let fitting = names.filter { name in
            name.hasPrefix(prefix) && Sanitizer.line(name) == name && seen.insert(name).inserted
        }
        return fitting.prefix(most).map { $0 + "\n" }.joined()
    }
}
