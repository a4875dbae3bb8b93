/// The house: every folder of `Sources`, what it is for, and whose names it may use. A room names only rooms above it in this table, so
/// there is no circle. `make rooms` puts the table into docs/ARCHITECTURE.md.
enum Rooms {
    /// What stands below everything else.
    private static let basics = "EventStore/Basics/*"
    private static let store = "EventStore/*"
    private static let kit = "CommandLineKit/*"
    private static let engine = "SyncEngine/*"
    private static let api = "SillokAPI"
    private static let client = "SillokClient"
    private static let subscriptions = "Subscriptions"
    private static let access = "Access"
    private static let backups = "Backups"

    static let all: [Room] = ground + log + views + network + kitRooms + exports + contract + programs

    /// Forbidden arrows that are there still. The list only shrinks: what is not needed any longer fails the test.
    static let exemptions: [Exemption] = []

    private static let ground = [
        Room("EventStore/Basics/Bytes", "bytes, hexadecimal and base64 text, Protocol Buffers"),
        Room("EventStore/Basics/Clock", "the clocks of the system"),
        Room("EventStore/Basics/Numbers", "sums that do not overflow"),
        Room("EventStore/Basics/Text", "normalised characters, and the tokens that a search looks for"),
        Room("EventStore/Basics/JSON", "JSON read in place", ["EventStore/Basics/Bytes"]),
        Room(
            "EventStore/Basics/Concurrency", "lock, monitor, threads, job pool, ordered pipeline; Dispatch",
            ["EventStore/Basics/Clock"]),
        Room(
            "EventStore/Model", "events, identifiers, canonical header, clocks, version vector: values; libuuid",
            [basics]),
        Room(
            "EventStore/Proofs", "SHA-256, Ed25519, Merkle ranges and proofs, signed heads; libcrypto, libsodium",
            [basics, "EventStore/Model"]),
        Room("EventStore/SQLite/VFS", "what is changed of SQLite's way to write files; libsqlite3", [basics]),
        Room(
            "EventStore/SQLite", "connection, statement, the WAL as a file; libsqlite3",
            [basics, "EventStore/Model", "EventStore/SQLite/VFS"]),
        Room(
            "EventStore/Files", "a store's folder: its files, its lock, small files", [basics, "EventStore/Model"]),
        Room(
            "EventStore/Interchange", "native NDJSON in and out", [basics, "EventStore/Model", "EventStore/Proofs"]),
    ]

    private static let log = [
        Room(
            "EventStore/Log", "the log's format and its reader",
            [basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files"]),
        Room(
            "EventStore/Identity", "who a store is, and whether it is the one that this node wrote last",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log",
            ]),
        Room(
            "EventStore/Attachments", "the bytes of attachments by their SHA-256, and how each stands",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log",
            ]),
        Room(
            "EventStore/Replication", "what goes to peers, and what is checked of what comes from them",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log", "EventStore/Identity",
            ]),
        Room(
            "EventStore/Writer", "the one writer: drafts, batches, group commit, checkpoints, heads",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/SQLite/VFS",
                "EventStore/Files", "EventStore/Log", "EventStore/Identity", "EventStore/Replication",
            ]),
        Room(
            "EventStore/Snapshot/Rows", "a log's rows in pieces, encoded, decoded and checked",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log", "EventStore/Identity", "EventStore/Replication",
            ]),
        Room(
            "EventStore/Snapshot/BulkLoad", "a log file made of rows, page by page",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log", "EventStore/Identity", "EventStore/Replication", "EventStore/Snapshot/Rows",
            ]),
        Room(
            "EventStore/Snapshot", "a copy of a log: planned, received, proven, put in place",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log", "EventStore/Identity", "EventStore/Replication", "EventStore/Snapshot/Rows",
                "EventStore/Snapshot/BulkLoad",
            ]),
        Room(
            "EventStore", "the open store: append, observe, close",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/Files", "EventStore/Log",
                "EventStore/Identity", "EventStore/Replication", "EventStore/Writer", "EventStore/Snapshot/Rows",
                "EventStore/Snapshot", "EventStore/Attachments",
            ]),
        Room(
            "EventStore/Audit", "proving a store from its files; evidence in and out",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log", "EventStore/Identity", "EventStore/Replication", "EventStore/Writer", "EventStore",
            ]),
        Room(
            "EventStore/Erasing", "plans of erasures: what one would take away",
            [basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Log"]),
        Room(
            "EventStore/Feed", "following the log: filters, cursors for all nodes, small files of values",
            [
                basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Files", "EventStore/Log",
                "EventStore/Identity", "EventStore/Replication",
            ]),
        Room(
            "EventStore/Receipts", "what nodes say they hold: cosignatures, receipts, proven answers",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log", "EventStore/Identity", "EventStore/Replication", "EventStore/Audit",
                "EventStore/Feed",
            ]),
        Room(
            "EventStore/Backup",
            "copies of a store; what a backup reads of a log, its manifest, and a log made of it",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log", "EventStore/Identity", "EventStore/Replication", "EventStore/Snapshot/Rows",
                "EventStore/Snapshot", "EventStore/Audit",
            ]),
    ]

    private static let views = [
        Room(
            "EventStore/LSM", "sorted tables of the views: memtables, blocks, compaction",
            [basics, "EventStore/SQLite"]),
        Room(
            "EventStore/Views/Contract", "what a view is, and what it is given: events as rows, clocks, digests",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log", "EventStore/LSM",
            ]),
        Room(
            "EventStore/Views/Causes", "which events followed from which",
            [basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Views/Contract"]),
        Room(
            "EventStore/Views/Messages", "edits and retractions of messages",
            [
                basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Views/Contract",
                "EventStore/Views/Causes",
            ]),
        Room(
            "EventStore/Views/Timeline", "histories of users and conversations, in display order",
            [
                basics, "EventStore/Model", "EventStore/SQLite", "EventStore/LSM", "EventStore/Views/Contract",
                "EventStore/Views/Messages",
            ]),
        Room(
            "EventStore/Views/Conversations", "conversations, their sums and who takes part",
            [
                basics, "EventStore/Model", "EventStore/SQLite", "EventStore/LSM", "EventStore/Views/Contract",
                "EventStore/Views/Timeline",
            ]),
        Room(
            "EventStore/Views/Profiles", "what users said of themselves",
            [basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Views/Contract"]),
        Room(
            "EventStore/Views/Surveys", "surveys and their answers",
            [basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Views/Contract"]),
        Room(
            "EventStore/Views/Search", "the words of what people wrote, and where they stand",
            [basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Views/Contract"]),
        Room(
            "EventStore/Views/Rooms", "which conversations users have in their lists, what they have read and hidden",
            [
                basics, "EventStore/Model", "EventStore/SQLite", "EventStore/LSM", "EventStore/Views/Contract",
                "EventStore/Views/Timeline", "EventStore/Views/Conversations", "EventStore/Views/Profiles",
            ]),
        Room(
            "EventStore/Views/Contacts", "whom users keep as contacts",
            [
                basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Views/Contract",
                "EventStore/Views/Profiles",
            ]),
        Room(
            "EventStore/Views/RecentSearches", "what users looked for, to be offered again",
            [basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Views/Contract"]),
        Room(
            "EventStore/Views/Attachments", "which events name which bytes",
            [basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Views/Contract"]),
        Room(
            "EventStore/Projection", "the projector: views.db follows the log",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/SQLite", "EventStore/Files",
                "EventStore/Log", "EventStore/Writer", "EventStore", "EventStore/LSM", "EventStore/Views/Contract",
                "EventStore/Views/Messages", "EventStore/Views/Conversations", "EventStore/Views/Profiles",
                "EventStore/Views/Surveys", "EventStore/Views/Timeline", "EventStore/Views/Search",
                "EventStore/Views/Causes",
                "EventStore/Views/Rooms", "EventStore/Views/Contacts", "EventStore/Views/RecentSearches",
                "EventStore/Views/Attachments",
            ]),
        Room(
            "EventStore/Views/Check", "proving views by making them again",
            [
                basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Files", "EventStore/Log",
                "EventStore/LSM", "EventStore/Views/Contract", "EventStore/Views/Messages",
                "EventStore/Views/Conversations", "EventStore/Views/Profiles", "EventStore/Views/Surveys",
                "EventStore/Views/Search", "EventStore/Projection", "EventStore/Views/Causes",
                "EventStore/Views/Rooms", "EventStore/Views/Contacts", "EventStore/Views/RecentSearches",
                "EventStore/Views/Attachments",
            ]),
        Room(
            "EventStore/Views", "the reader of all views",
            [
                basics, "EventStore/Model", "EventStore/SQLite", "EventStore/Files", "EventStore/Log",
                "EventStore/LSM", "EventStore/Views/Contract", "EventStore/Views/Causes",
                "EventStore/Views/Messages", "EventStore/Views/Conversations",
                "EventStore/Views/Profiles", "EventStore/Views/Surveys", "EventStore/Views/Timeline",
                "EventStore/Views/Search", "EventStore/Projection",
                "EventStore/Views/Rooms", "EventStore/Views/Contacts", "EventStore/Views/RecentSearches",
                "EventStore/Views/Attachments",
            ]),
        Room(
            "EventStore/Attachments/Upkeep", "which bytes of attachments are wanted, and which go: as the views say",
            [
                basics, "EventStore/Model", "EventStore/Files", "EventStore/Log", "EventStore",
                "EventStore/Projection",
                "EventStore/Views/Timeline", "EventStore/Views", "EventStore/Attachments",
            ]),
        Room(
            "EventStore/Reading", "the reader of a store: always fresh",
            [
                basics, "EventStore/Model", "EventStore/Proofs", "EventStore/Files", "EventStore/Log",
                "EventStore/Writer", "EventStore", "EventStore/Audit", "EventStore/Receipts",
                "EventStore/Views/Conversations", "EventStore/Views/Profiles", "EventStore/Views/Surveys",
                "EventStore/Views/Timeline", "EventStore/Views/Search", "EventStore/Projection", "EventStore/Views",
                "EventStore/Attachments",
            ]),
    ]

    private static let network = [
        Room("SyncEngine/Networking", "addresses, socket options, errors; libevent"),
        Room(
            "SyncEngine/Networking/Loop", "the event loop and its timers; libevent",
            [basics, "SyncEngine/Networking"]),
        Room(
            "SyncEngine/Networking/Links", "TLS links, listener, dialer; libevent, libssl",
            ["SyncEngine/Networking", "SyncEngine/Networking/Loop"]),
        Room(
            "SyncEngine/Networking/HTTP", "the HTTP server; libevent",
            [basics, "SyncEngine/Networking", "SyncEngine/Networking/Loop", "SyncEngine/Networking/Links"]),
        Room(
            "SyncEngine/Networking/Lines", "a TCP server for protocols of short texts; libevent",
            [basics, "SyncEngine/Networking", "SyncEngine/Networking/Loop", "SyncEngine/Networking/Links"]),
        Room("SyncEngine/Wire", "frames and messages; pure; libzstd", [store]),
        Room("SyncEngine/Session", "the protocol's state machine; pure", [store, "SyncEngine/Wire"]),
        Room(
            "SyncEngine/Mesh", "who is dialled, let in and waited for, which origin is given up; pure",
            [store, "SyncEngine/Wire", "SyncEngine/Session"]),
        Room(
            "SyncEngine/Node", "the shell: performs what sessions and mesh decide; workers, status",
            [
                store, "SyncEngine/Wire", "SyncEngine/Session", "SyncEngine/Mesh", "SyncEngine/Networking",
                "SyncEngine/Networking/Loop", "SyncEngine/Networking/Links",
            ]),
    ]

    private static let kitRooms = [
        Room("CommandLineKit/Text", "display width, tables, JSON lines, CSV, sizes, languages"),
        Room("CommandLineKit/Time", "times and time zones in text", ["CommandLineKit/Text"]),
        Room("CommandLineKit/Outcome", "exit codes and failures", ["CommandLineKit/Text"]),
        Room(
            "CommandLineKit/Arguments", "one table of arguments: parser, help, manual page, completion",
            ["CommandLineKit/Time", "CommandLineKit/Text", "CommandLineKit/Outcome"]),
        Room(
            "CommandLineKit/Terminal", "output, pager, progress",
            ["CommandLineKit/Time", "CommandLineKit/Text", "CommandLineKit/Outcome"]),
        Room("CommandLineKit/JSON5", "JSON5 read into values with their places"),
        Room(
            "CommandLineKit/Configuration", "objects of a configuration, and what is wrong with them",
            ["CommandLineKit/JSON5", "CommandLineKit/Arguments", "CommandLineKit/Time", "CommandLineKit/Text"]),
        Room(
            "CommandLineKit/Program", "how a program starts, ends and crashes",
            [
                "CommandLineKit/Arguments", "CommandLineKit/Terminal", "CommandLineKit/Text",
                "CommandLineKit/Outcome",
            ]),
    ]

    private static let exports = [
        Room(
            "Interchange/Reading", "files, archives, lines, JSON and stores of others, in bounded memory; zlib",
            [store, "CommandLineKit/Time"]),
        Room(
            "Interchange/Records", "what becomes of a record: payload, names, order, and what is passed over",
            [store, "CommandLineKit/Time", "Interchange/Reading"]),
        Room(
            "Interchange/Formats", "one format of exports a file, and what belongs to it alone",
            [store, "CommandLineKit/Time", "Interchange/Reading", "Interchange/Records"]),
        Room(
            "Interchange/Exports", "what conversations leave the store as: CSV, fine-tuning lines, pairs, a page",
            [
                store, "CommandLineKit/Text", "CommandLineKit/Time", "Interchange/Records", "Interchange/Formats",
            ]),
        Room(
            "Interchange", "the formats by name, how they are recognised, and an import in two passes",
            [store, "Interchange/Reading", "Interchange/Records", "Interchange/Formats"]),
    ]

    private static let contract = [
        Room("Subscriptions", "what workers are handed, and what of it is done: a pure machine", [store]),
        Room(
            "Backups", "repositories and streams of backups: made, listed, proven, restored, pruned; drills",
            [store, "SyncEngine/Wire", "CommandLineKit/Terminal"]),
        Room("Access", "who may do what: roles, tokens, who is in which conversation", [store]),
        Room(
            "SillokAPI",
            "the contract of the HTTP API: one table of routes, answers, errors with status and exit code",
            [store, kit, access]),
        Room(
            "SillokClient", "requests to nodes and models, and the files with what opens them; libcurl",
            [store, kit, api]),
        Room(
            "BotKit",
            "what a bot makes and when: completions, pictures, sound, context, rules of answers, a delivery; pure",
            [
                basics, "EventStore/Model", "EventStore/Attachments", "EventStore/Proofs", "EventStore/Interchange",
                "CommandLineKit/Text",
            ]),
        Room(
            "GatewayKit", "a line protocol: requests, answers, the stations, what is recorded; pure",
            ["EventStore/Model", "EventStore/Interchange", "CommandLineKit/Text", "CommandLineKit/JSON5"]),
    ]

    private static let programs = [
        Room("syncd/Configuration", "the daemon's configuration: JSON5, environment, options", [store, kit, access]),
        Room(
            "syncd/Access", "who asks, what they see, and what is recorded of it",
            [store, engine, kit, api, access, "syncd/Configuration"]),
        Room(
            "syncd/Setup", "what the daemon is started with: settings, peers, log, audit",
            [store, engine, kit, api, "syncd/Configuration"]),
        Room(
            "syncd/Answers", "who may ask what; errors and parameters of the HTTP API",
            [store, engine, kit, api, access, "syncd/Access"]),
        Room(
            "syncd/Feed", "followers of the log, and workers of subscriptions",
            [store, engine, kit, api, subscriptions, access, "syncd/Access", "syncd/Setup", "syncd/Answers"]),
        Room(
            "syncd/Pages", "the pages for browsers, and how they are served",
            [basics, "EventStore/Proofs", "EventStore/Files", engine]),
        Room(
            "syncd/Metrics", "counters, gauges and a probe of the disk; the text formats of Prometheus",
            [store, engine, api]),
        Room(
            "syncd/Endpoints", "the HTTP API",
            [
                store, engine, kit, api, subscriptions, access, "syncd/Configuration", "syncd/Access", "syncd/Setup",
                "syncd/Answers",
                "syncd/Feed", "syncd/Metrics", "syncd/Pages",
            ]),
        Room(
            "syncd", "the daemon, from start to orderly end",
            [
                store, engine, kit, api, "syncd/Configuration", "syncd/Access", "syncd/Setup", "syncd/Metrics",
                "syncd/Pages", "syncd/Endpoints",
            ]),
        Room("syncctl/Korean", "what people are told in Korean", [kit]),
        Room(
            "syncctl/Session", "what one run of the command has: arguments, store, output",
            [store, kit, api, "syncctl/Korean"]),
        Room(
            "syncctl/Client", "talking to a daemon, appending, reading",
            [store, kit, api, client, access, "syncctl/Session"]),
        Room(
            "syncctl/Rendering", "events and timelines as text and JSON",
            [store, kit, api, "syncctl/Session", "syncctl/Client"]),
        Room(
            "syncctl/Doctor", "what is wrong with a store and what helps",
            [store, engine, kit, api, client, "syncctl/Korean", "syncctl/Session", "syncctl/Client"]),
        Room(
            "syncctl/Commands/Read", "commands that show events and what views answer",
            [store, kit, api, client, "syncctl/Session", "syncctl/Client", "syncctl/Rendering"]),
        Room(
            "syncctl/Commands/Write", "append and import; evidence out and in",
            [
                store, engine, kit, api, client, "Interchange", "Interchange/Records", "Interchange/Reading",
                "syncctl/Korean", "syncctl/Session", "syncctl/Client", "syncctl/Rendering",
            ]),
        Room(
            "syncctl/Commands/Nodes", "peers, invitations, status, clocks, waiting",
            [
                store, engine, kit, api, client, "syncctl/Session", "syncctl/Client", "syncctl/Rendering",
                "syncctl/Doctor",
            ]),
        Room(
            "syncctl/Commands/Backup", "backups made, listed, proven, restored, pruned, and tried",
            [store, kit, api, backups, "syncctl/Session", "syncctl/Client", "syncctl/Rendering"]),
        Room(
            "syncctl/Commands", "all other commands; here and in the four rooms above one file a command",
            [
                store, engine, kit, api, client, "Access", "Interchange/Exports", "syncctl/Session", "syncctl/Client",
                "syncctl/Rendering", "syncctl/Doctor", "syncctl/Commands/Write",
            ]),
        Room(
            "syncctl", "the table of commands",
            [
                kit, "syncctl/Korean", "syncctl/Session", "syncctl/Commands/Read", "syncctl/Commands/Write",
                "syncctl/Commands/Nodes",
                "syncctl/Commands/Backup", "syncctl/Commands",
            ]),
        Room(
            "sillok-bot/Configuration", "a bot's configuration: JSON5 and the files it names",
            [store, kit, api, client, "BotKit"]),
        Room(
            "sillok-bot/Node", "the node as a bot speaks with it; its end, and its lines for people",
            [store, kit, api, client, "BotKit", "sillok-bot/Configuration"]),
        Room(
            "sillok-bot/Work", "the threads of a bot, the model, and figures",
            [store, kit, api, client, "BotKit", "sillok-bot/Configuration", "sillok-bot/Node"]),
        Room(
            "sillok-bot", "the bot: what it is started with, and the check of that",
            [
                store, kit, api, client, "BotKit", "sillok-bot/Configuration", "sillok-bot/Node", "sillok-bot/Work",
            ]),
        Room(
            "sillok-gateway/Configuration", "a gateway's configuration and its data file",
            [store, kit, api, "GatewayKit"]),
        Room(
            "sillok-gateway/Node", "the node as a gateway speaks with it; figures, and lines for people",
            [store, kit, api, client, "GatewayKit", "sillok-gateway/Configuration"]),
        Room(
            "sillok-gateway/Serving", "clients over TCP and the page, and the one desk that answers both",
            [
                store, engine, kit, api, "GatewayKit", "sillok-gateway/Configuration", "sillok-gateway/Node",
            ]),
        Room(
            "sillok-gateway", "the gateway: its start, its end, and the check of what it is started with",
            [
                store, engine, kit, api, client, "GatewayKit", "sillok-gateway/Configuration", "sillok-gateway/Node",
                "sillok-gateway/Serving",
            ]),
    ]
}
