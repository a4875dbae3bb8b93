// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is compiled under the same strict settings; a warning is an error.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// With SILLOK_OPTIMIZED=1 a debug build compiles what tests, counts and the simulator spend their time in as a release does, with
/// what tests reach into. One build is enough for all three then (`.ci/run`); without it, what was changed alone is compiled anew.
let hot: [SwiftSetting] =
    Context.environment["SILLOK_OPTIMIZED"] == nil
    ? strict
    : strict + [
        .unsafeFlags(["-O", "-whole-module-optimization", "-num-threads", "2"], .when(configuration: .debug))
    ]

/// The programs carry what they use of Swift's runtime and of C++'s (`Scripts/link`) in themselves: less memory than the
/// shared libraries take, a start that is shorter by half, and servers need neither. No other program links with it, so it
/// exports no symbols; where it was loaded is added to its 32,000 pointers from a packed table of 6 KB in place of one of 750
/// (DT_RELR: glibc 2.36, and a linker that writes it, which comes with Swift).
let standalone: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-stdlib", "-use-ld=lld", "-L\(Context.packageDirectory)/Scripts/link", "-Xlinker",
            "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
        ], .when(configuration: .release))
]

let package = Package(
    name: "sillok",
    products: [
        .library(name: "EventStore", targets: ["EventStore"]),
        .library(name: "SyncEngine", targets: ["SyncEngine"]),
        .executable(name: "syncd", targets: ["syncd"]),
        .executable(name: "syncctl", targets: ["syncctl"]),
        .executable(name: "sillok-bot", targets: ["sillok-bot"]),
        .executable(name: "sillok-gateway", targets: ["sillok-gateway"]),
    ],
    targets: [
        // Debian's C libraries. Each is imported in exactly one folder (the tidy test holds us to it).
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLibuuid", pkgConfig: "uuid", providers: [.apt(["uuid-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibevent", pkgConfig: "libevent_core", providers: [.apt(["libevent-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLinux"),

        .target(
            name: "EventStore", dependencies: ["CSQLite", "CLibuuid", "CCrypto", "CSodium", "CLinux"],
            swiftSettings: hot),
        .target(
            name: "SyncEngine", dependencies: ["EventStore", "COpenSSL", "CLibevent", "CZstd", "CLinux"],
            swiftSettings: hot),
        // The words of the command line and the line of a crash, as C has them.
        .target(name: "CProgram"),
        // The pages for browsers, as C has them (#embed of C23).
        .target(name: "CPages", exclude: ["files"]),
        .target(name: "CommandLineKit", dependencies: ["CProgram"], swiftSettings: hot),
        // The contract of the HTTP API: what the daemon answers and its clients read.
        .target(name: "SillokAPI", dependencies: ["Access", "EventStore", "CommandLineKit"], swiftSettings: strict),
        // Requests of programs to nodes and to models, and the files with what opens them.
        .target(
            name: "SillokClient", dependencies: ["SillokAPI", "EventStore", "CommandLineKit", "CCurl"],
            swiftSettings: strict),
        // What workers are handed, and what of it is done.
        .target(name: "Subscriptions", dependencies: ["EventStore"], swiftSettings: hot),
        // Who may do what: roles, tokens, who takes part in what.
        .target(name: "Access", dependencies: ["EventStore"], swiftSettings: strict),
        // What a bot says: completions, context, rules of answers, retries, and one delivery as a pure machine.
        .target(name: "BotKit", dependencies: ["EventStore", "CommandLineKit"], swiftSettings: strict),
        // What a gateway of a line protocol says: requests, answers, the stations, and events; pure.
        .target(name: "GatewayKit", dependencies: ["EventStore", "CommandLineKit"], swiftSettings: strict),
        // Backups: repositories, streams, and stores made of them.
        .target(
            name: "Backups", dependencies: ["EventStore", "SyncEngine", "CommandLineKit"], swiftSettings: strict),
        // Exports of other services, read into events.
        .target(
            name: "Interchange", dependencies: ["EventStore", "CommandLineKit", "CZlib"], swiftSettings: strict),
        .executableTarget(
            name: "syncd",
            dependencies: [
                "SillokAPI", "Access", "Subscriptions", "SyncEngine", "EventStore", "CommandLineKit", "CLinux",
                "CPages",
            ],
            swiftSettings: strict, linkerSettings: standalone),
        .executableTarget(
            name: "syncctl",
            dependencies: [
                "SillokClient", "SillokAPI", "Access", "SyncEngine", "Interchange", "Backups", "EventStore",
                "CommandLineKit",
            ],
            swiftSettings: strict, linkerSettings: standalone),
        .executableTarget(
            name: "sillok-bot",
            dependencies: ["BotKit", "SillokClient", "SillokAPI", "EventStore", "CommandLineKit"],
            swiftSettings: strict, linkerSettings: standalone),
        .executableTarget(
            name: "sillok-gateway",
            dependencies: [
                "GatewayKit", "SillokClient", "SillokAPI", "SyncEngine", "EventStore", "CommandLineKit", "CPages",
            ],
            swiftSettings: strict, linkerSettings: standalone),

        // Real dialogue sets turned into native NDJSON, for benchmarks and tests.
        .target(name: "Converters", path: "Benchmarks/Converters", swiftSettings: strict),
        .executableTarget(
            name: "sillok-convert", dependencies: ["Converters", "CommandLineKit"], path: "Benchmarks/convert",
            swiftSettings: strict),
        .executableTarget(
            name: "sillok-bench", dependencies: ["EventStore", "SyncEngine"],
            path: "Benchmarks/sillok-bench", swiftSettings: strict),
        .executableTarget(
            name: "sillok-gates", dependencies: ["EventStore", "SyncEngine"],
            path: "Benchmarks/gates/Workloads", swiftSettings: hot),
        .executableTarget(
            name: "sillok-fleet", dependencies: ["EventStore", "SyncEngine"], path: "Benchmarks/fleet",
            swiftSettings: strict),

        // Entry points for arbitrary bytes: libFuzzer drives them (Scripts/fuzz), FuzzTests replays what it has kept.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "EventStore", "SyncEngine", "CommandLineKit", "WireKit", "Access", "SillokAPI", "Subscriptions",
                "BotKit", "Backups", "GatewayKit",
            ],
            path: "Tests/Fuzz/Targets", swiftSettings: strict),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Replay", swiftSettings: strict),
        // What several test targets need: folders that are removed, chance with a seed, rewound logs, contradictions of a table.
        .target(
            name: "TestSupport", dependencies: ["EventStore", "CommandLineKit"], path: "Tests/TestSupport",
            swiftSettings: strict),
        // Frames as bytes, for tests that play the other end of a connection.
        .target(
            name: "WireKit", dependencies: ["EventStore", "SyncEngine"], path: "Tests/WireKit", swiftSettings: hot),
        .testTarget(
            name: "EventStoreTests", dependencies: ["TestSupport", "EventStore"], exclude: ["Log/Golden"],
            swiftSettings: strict),
        .testTarget(
            name: "SyncEngineTests",
            dependencies: ["TestSupport", "WireKit", "SyncEngine", "Subscriptions", "EventStore"],
            exclude: ["Wire/Vectors"], swiftSettings: strict),
        .testTarget(
            name: "CommandLineKitTests",
            dependencies: ["TestSupport", "CommandLineKit", "EventStore", "SillokAPI", "SyncEngine", "syncd"],
            swiftSettings: strict),
        .testTarget(
            name: "SubscriptionsTests", dependencies: ["TestSupport", "Subscriptions", "EventStore"],
            swiftSettings: strict),
        .testTarget(
            name: "BotKitTests", dependencies: ["TestSupport", "BotKit", "EventStore", "CommandLineKit"],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayKitTests", dependencies: ["TestSupport", "GatewayKit", "EventStore", "CommandLineKit"],
            swiftSettings: strict),
        .testTarget(
            name: "AccessTests", dependencies: ["TestSupport", "Access", "EventStore"], exclude: ["Vectors"],
            swiftSettings: strict),
        .testTarget(
            name: "InterchangeTests", dependencies: ["TestSupport", "Interchange", "EventStore", "CommandLineKit"],
            swiftSettings: strict),
        .testTarget(
            name: "BackupsTests", dependencies: ["TestSupport", "Backups", "EventStore", "SyncEngine"],
            exclude: ["Golden"], swiftSettings: strict),
        .testTarget(
            name: "SillokAPITests",
            dependencies: ["TestSupport", "SillokAPI", "Access", "EventStore", "CommandLineKit"],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "TestSupport", "Converters", "CommandLineKit", "EventStore", "SillokAPI", "Access", "syncd",
                "syncctl",
            ],
            exclude: ["Certificates"], swiftSettings: strict),
        // A cluster in virtual time, decided by a seed (docs/internals/simulator.md): the kit, the program, the tests.
        .target(
            name: "SyncTestKit", dependencies: ["EventStore", "SyncEngine", "Subscriptions", "WireKit"],
            path: "Tests/SyncTestKit",
            swiftSettings: hot),
        .executableTarget(
            name: "sillok-sim", dependencies: ["SyncTestKit", "CommandLineKit"], path: "Tests/sillok-sim",
            swiftSettings: hot),
        .testTarget(name: "SimulatorTests", dependencies: ["SyncTestKit", "sillok-sim"], swiftSettings: strict),
        .testTarget(name: "TidyTests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu2x
)
