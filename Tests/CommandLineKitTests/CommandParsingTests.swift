import CommandLineKit
import TestSupport
import Testing

/// The table of a small program with every kind of command.
let sampleTable = CommandTable(
    program: "syncctl", summary: "reads and checks a chat log",
    commands: [
        Command(
            "history", "one user's messages", group: "READ",
            arguments: [.init("uid", "The user.")],
            options: [
                .value("since", "TIME", "Begin here."), .value("type", "KIND", "Only this kind.", repeatable: true),
                .value("limit", short: "n", "N", "At most this many."),
                .value("order", "ORDER", "The order.", allowed: ["log", "time"]),
                .flag("follow", short: "f", "Go on."), .flag("quick", short: "q", "Be quick."),
            ],
            examples: [.init("syncctl history u-1 --since yesterday", "What u-1 said since yesterday.")],
            discussion: "First paragraph.\n\nSecond paragraph."),
        Command("peers add", "get to know a node", group: "NODES", arguments: [.init("name", "Its name.")]),
        Command("peers list", "all nodes", group: "NODES"),
        Command(
            "import", "load files", group: "WRITE",
            arguments: [
                .init("format", "The format.", allowed: ["ndjson", "discord"]),
                .init("file", "The files.", count: .repeating(atLeast: 1)),
            ]),
        Command("show", "one event", group: "READ", arguments: [.init("event", "Its id.", count: .optional)]),
        Command("stats", "counts", group: "READ", options: [.value("by", "FIELD", "Group by this.")]),
    ],
    globalOptions: [.flag("json", "Write JSON lines."), .value("timeout", "SPAN", "Give up after this.")])

private func run(_ words: String...) throws -> ParsedArguments {
    guard case .run(let arguments) = try sampleTable.parse(words) else {
        throw UsageError.noCommand
    }
    return arguments
}

private func failure(_ words: String...) -> UsageError? {
    do {
        _ = try sampleTable.parse(words)
        return nil
    } catch {
        return error
    }
}

@Suite struct CommandParsingTests {
    @Test func valuesAreAttachedOrSeparate() throws {
        for words in [["--since", "2h"], ["--since=2h"]] {
            guard case .run(let arguments) = try sampleTable.parse(["history", "u-1"] + words) else {
                Issue.record("no command")
                return
            }
            #expect(arguments.value("since") == "2h")
        }
        #expect(try run("history", "u-1", "-n", "5").value("limit") == "5")
        #expect(try run("history", "u-1", "-n5").value("limit") == "5")
        #expect(try run("history", "u-1", "-fqn5").value("limit") == "5")
        #expect(try run("history", "u-1", "--since=").value("since") == "")
        #expect(try run("history", "u-1", "--since=a=b").value("since") == "a=b")
    }

    @Test func optionsStandAnywhere() throws {
        let before = try run("--json", "--since", "2h", "history", "u-1")
        let between = try run("history", "--since", "2h", "u-1", "--json")
        for arguments in [before, between] {
            #expect(arguments.command.name == "history")
            #expect(arguments.flag("json"))
            #expect(!arguments.flag("follow"))
            #expect(arguments.value("since") == "2h")
            #expect(arguments.value("timeout") == nil)
            #expect(arguments.positional("uid") == "u-1")
        }
    }

    @Test func twoDashesEndOptions() throws {
        #expect(try run("history", "--", "--json").positional("uid") == "--json")
        #expect(try run("--", "history", "-").positional("uid") == "-")
    }

    @Test func twoWordCommands() throws {
        let arguments = try run("peers", "--json", "add", "busan-1")
        #expect(arguments.command.name == "peers add")
        #expect(arguments.positional("name") == "busan-1")
        #expect(failure("peers") == .incompleteCommand("peers", choices: ["add", "list"]))
        #expect(failure("peers", "lst") == .unknownCommand("peers lst", suggestion: "'syncctl peers list'"))
        #expect(failure("peers", "destroy") == .incompleteCommand("peers", choices: ["add", "list"]))
    }

    @Test func repeatedValues() throws {
        #expect(try run("history", "u", "--type", "a", "--type=b").values("type") == ["a", "b"])
        #expect(try run("history", "u").values("type") == [])
        #expect(try run("history", "u", "--since=1h", "--since=1h").value("since") == "1h")
        #expect(
            failure("history", "u", "--since=1h", "--since=2h")
                == .repeatedOption("--since", first: "1h", second: "2h"))
        #expect(try run("import", "ndjson", "a", "b", "-").positionals("file") == ["a", "b", "-"])
        #expect(try run("show").positional("event") == nil)
    }

    @Test("A word with a dash behind the first one is a word where the command takes such, unless it is an option")
    func negatedWords() throws {
        var table = sampleTable
        table.commands.append(
            Command(
                "search", "texts", arguments: [.init("words", "", count: .repeating(atLeast: 1), mayBeNegated: true)],
                options: [.value("user", short: "u", "USER", "Of them."), .flag("all", short: "a", "All.")]))
        func search(_ words: String...) throws(UsageError) -> ParsedArguments? {
            guard case .run(let arguments) = try table.parse(["search"] + words) else { return nil }
            return arguments
        }
        #expect(try search("두통", "-감기", "--json", "-몸살")?.positionals("words") == ["두통", "-감기", "-몸살"])
        // Of another command, but not of this one.
        #expect(try search("두통", "-fever")?.positionals("words") == ["두통", "-fever"])
        let mixed = try search("두통", "-ukim", "-감기", "-a")
        #expect(mixed?.positionals("words") == ["두통", "-감기"] && mixed?.flag("all") == true)
        #expect(mixed?.value("user") == "kim")
        #expect(try search("두통", "--", "-a", "--json")?.positionals("words") == ["두통", "-a", "--json"])
        #expect(throws: UsageError.unknownOption("-감", suggestion: nil, command: "search")) {
            try search("-감기", "두통")
        }
        #expect(throws: UsageError.unknownOption("--al", suggestion: "--all", command: "search")) {
            try search("두통", "--al")
        }
        #expect(failure("history", "u", "-감기") == .unknownOption("-감", suggestion: nil, command: "history"))
    }

    @Test func everyUsageError() {
        #expect(failure() == .noCommand)
        #expect(failure("--json") == .noCommand)
        #expect(failure("histroy", "u") == .unknownCommand("histroy", suggestion: "'syncctl history'"))
        #expect(failure("xyzzy") == .unknownCommand("xyzzy", suggestion: nil))
        #expect(
            failure("history", "u", "--sicne", "2h")
                == .unknownOption("--sicne", suggestion: "--since", command: "history"))
        #expect(
            failure("history", "u", "--zzzzzz") == .unknownOption("--zzzzzz", suggestion: nil, command: "history"))
        #expect(failure("history", "u", "-x") == .unknownOption("-x", suggestion: nil, command: "history"))
        #expect(failure("history", "u", "--=5") == .unknownOption("--", suggestion: nil, command: "history"))
        #expect(failure("history", "u", "--by=day") == .foreignOption("--by", command: "history"))
        #expect(failure("history", "u", "--since") == .missingValue(option: "--since", placeholder: "TIME"))
        #expect(failure("history", "u", "--since", "--json") == .missingValue(option: "--since", placeholder: "TIME"))
        #expect(failure("history", "u", "--since", "-2h") == .missingValue(option: "--since", placeholder: "TIME"))
        #expect(failure("history", "u", "--json=yes") == .unexpectedValue(option: "--json"))
        #expect(
            failure("history", "u", "--order", "tiem")
                == .notAllowed(name: "--order", value: "tiem", allowed: ["log", "time"], suggestion: "time"))
        #expect(
            failure("import", "csv", "f")
                == .notAllowed(name: "<format>", value: "csv", allowed: ["ndjson", "discord"], suggestion: nil))
        #expect(failure("history") == .missingArgument("uid", command: "history"))
        #expect(failure("history", "") == .missingArgument("uid", command: "history"))
        #expect(failure("import", "ndjson") == .missingArgument("file", command: "import"))
        #expect(failure("history", "u", "v") == .unexpectedArgument("v", command: "history"))
    }

    @Test func errorsNameTheWordAndTheWayOut() {
        let pairs: [(UsageError, message: String, hint: String)] = [
            (
                .unknownOption("--sicne", suggestion: "--since"), "unknown option --sicne; did you mean --since?",
                "syncctl --help"
            ),
            (
                .missingValue(option: "--since", placeholder: "TIME"), "--since needs a value: --since TIME",
                "--since=TIME if the value begins with a dash"
            ),
            (
                .incompleteCommand("peers", choices: ["add", "list"]), "'peers' needs a second word",
                "syncctl peers add, syncctl peers list"
            ),
            (
                .outOfRange(name: "--limit", value: "0", lowest: 1, highest: .max), "--limit: 0 is less than 1",
                "1 or more"
            ),
            (
                .outOfRange(name: "--limit", value: "9", lowest: 1, highest: 8), "--limit: 9 is not between 1 and 8",
                "a number from 1 to 8"
            ),
            (.missingArgument("uid", command: "history"), "missing argument <uid>", "syncctl history --help"),
            (
                .notAllowed(name: "<input>", value: "dump.ndjson", allowed: ["-"], suggestion: nil),
                "<input>: 'dump.ndjson' is not one of -", "- < dump.ndjson"
            ),
        ]
        for (error, message, hint) in pairs {
            #expect(error.message == message)
            #expect(error.hint(program: "syncctl") == hint)
            #expect(error.failure(program: "syncctl").exitCode == .usage)
        }
    }

    @Test func integers() throws {
        #expect(try run("history", "u", "-n", "5").integer("limit", in: 1...10) == 5)
        #expect(try run("history", "u").integer("limit", in: 1...10) == nil)
        #expect(try run("history", "u", "--limit=-5").integer("limit", in: -9...10) == -5)
        for text in ["", "five", "1.5", "--5", "+", "0x10", "５"] {
            #expect(
                throws: UsageError.notWhole(name: "--limit", value: text), "\(text)"
            ) {
                try run("history", "u", "--limit=" + text).integer("limit", in: 1...10)
            }
        }
        for text in ["0", "11", "99999999999999999999", "-99999999999999999999"] {
            #expect(throws: UsageError.outOfRange(name: "--limit", value: text, lowest: 1, highest: 10)) {
                try run("history", "u", "--limit=" + text).integer("limit", in: 1...10)
            }
        }
    }

    @Test func helpWinsOverErrors() throws {
        let history = CommandTable.HelpTopic.command(sampleTable.commands[0])
        #expect(try sampleTable.parse(["history", "--help"]) == .help(history))
        #expect(try sampleTable.parse(["-h", "history", "--bogus"]) == .help(history))
        #expect(try sampleTable.parse(["--help"]) == .help(.program))
        #expect(try sampleTable.parse(["peers", "--help"]) == .help(.commands(beginning: "peers")))
        #expect(try run("history", "--", "--help").positional("uid") == "--help")
    }

    @Test("'help' and a command's name ask for the same as --help")
    func helpAsAWord() throws {
        #expect(try sampleTable.parse(["help"]) == .help(.program))
        #expect(try sampleTable.parse(["help", "history"]) == .help(.command(sampleTable.commands[0])))
        #expect(try sampleTable.parse(["help", "peers"]) == .help(.commands(beginning: "peers")))
        #expect(try sampleTable.parse(["help", "peers", "add"]) == .help(.command(sampleTable.commands[1])))
        #expect(failure("help", "histroy") == .unknownCommand("histroy", suggestion: "'syncctl history'"))
        let group = sampleTable.help(for: .commands(beginning: "peers"))
        #expect(group.hasPrefix("Usage: syncctl peers <command> [options]\n\nCommands:\n  peers add <name>"))
        #expect(group.contains("\n  peers list") && !group.contains("history"))
        var table = sampleTable
        table.commands.append(Command("peers", "all nodes"))
        #expect(table.help(for: .command(table.commands[6])).contains("Commands:\n  peers add <name>"))
    }

    @Test func aProgramWithoutCommands() throws {
        let table = CommandTable(
            program: "syncd", summary: "the daemon",
            commands: [Command("", "keeps and exchanges the log", options: [.value("config", "FILE", "The file.")])])
        guard case .run(let arguments) = try table.parse(["--config", "x"]) else {
            Issue.record("no command")
            return
        }
        #expect(arguments.value("config") == "x")
        #expect(throws: UsageError.unexpectedArgument("start", command: "")) { try table.parse(["start"]) }
        #expect(table.help(for: .program).hasPrefix("syncd: keeps and exchanges the log\n\nUsage: syncd [options]\n"))
    }

    @Test func randomWordsNeverCrash() {
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "history", "peers", "add", "--", "-", "--since", "=", "-n", "-f", "--json", "", "한글", "--=", "-é",
        ]
        for _ in 0..<5_000 {
            let words = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                (0..<Int.random(in: 1...2, using: &random)).map { _ in pieces.randomElement() ?? "" }.joined()
            }
            do {
                _ = try sampleTable.parse(words)
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
    }
}

@Suite struct CommandTableTests {
    @Test func contradictionsAreFound() {
        #expect(sampleTable.contradictions() == [])
        let bad = CommandTable(
            program: "p", summary: "s",
            commands: [
                Command("a", "s", options: [.flag("x", short: "v", "h"), .flag("json", "h")]),
                Command(
                    "b", "s", arguments: [.init("m", "h", count: .optional), .init("n", "h")],
                    options: [.value("x", "V", "h"), .flag("y", short: "v", "h")]),
                Command("b", "s"),
            ], globalOptions: [.flag("json", "h")])
        let found = bad.contradictions()
        #expect(found.contains("--x is a flag in one command and has a value in another"))
        #expect(found.contains("--x has different short names"))
        #expect(found.contains("-v is both --x and --y"))
        #expect(found.contains("two commands are named 'b'"))
        #expect(found.contains("'a' has --json twice"))
        #expect(found.contains("'b': only the last argument may be optional or repeated"))
    }

    @Test func helpOfACommand() {
        let whole = sampleTable.help(for: .command(sampleTable.commands[0]))
        // A command that takes a time says how times are written.
        let times = /TIME:\n(  .*\n)+\n/
        #expect(whole.contains("\nTIME:\n  Accepted: 2h, "))
        let help = whole.replacing(times, with: "")
        #expect(
            help == """
                syncctl history: one user's messages

                Usage: syncctl history <uid> [options]

                Examples:
                  syncctl history u-1 --since yesterday
                      What u-1 said since yesterday.

                Arguments:
                  <uid>                   The user.

                Options:
                      --since TIME        Begin here.
                      --type KIND         Only this kind. Repeatable.
                  -n, --limit N           At most this many.
                      --order ORDER       The order. One of: log, time.
                  -f, --follow            Go on.
                  -q, --quick             Be quick.

                General options:
                      --json              Write JSON lines.
                      --timeout SPAN      Give up after this.
                  -h, --help              Show this help.

                First paragraph.

                Second paragraph.

                """)
    }

    @Test func helpOfTheProgramGroupsCommands() {
        let help = sampleTable.help(for: .program)
        #expect(help.contains("\nREAD:\n  history <uid>           one user's messages\n"))
        #expect(help.contains("  import <format> <file>...\n"))
        #expect(help.contains("\nNODES:\n  peers add <name>        get to know a node\n  peers list "))
    }

    @Test(arguments: [40, 60, 80])
    func helpFitsItsWidth(width: Int) {
        let long = Array(repeating: "낱말 word", count: 40).joined(separator: " ")
        var table = sampleTable
        table.commands[0].options.append(.value("a-rather-long-name", "PLACEHOLDER", long))
        table.commands[0].discussion = long
        table.commands[0].summary = long
        for topic in [CommandTable.HelpTopic.program, .command(table.commands[0])] {
            for line in table.help(for: topic, width: width).split(separator: "\n") {
                #expect(DisplayWidth.of(line) <= width, "\(line)")
            }
        }
    }

    @Test(arguments: [
        ("since", "sicne", 1), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 1),
        ("가나", "나가", 1),
        ("same", "same", 0), ("ca", "abc", 3),
    ])
    func distances(first: String, second: String, distance: Int) {
        #expect(Suggestion.distance(first, second) == distance)
        #expect(Suggestion.distance(second, first) == distance)
    }

    @Test func suggestionsAreNear() {
        #expect(Suggestion.nearest(to: "jsno", among: ["plain", "json"]) == "json")
        #expect(Suggestion.nearest(to: "x", among: ["plain", "json"]) == nil)
        #expect(Suggestion.nearest(to: "anything", among: []) == nil)
    }
}
