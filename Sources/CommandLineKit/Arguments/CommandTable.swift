/// All commands of a program. A program without sub-commands has one command with an empty name.
package struct CommandTable: Sendable, Equatable {
    /// The program's name, the first word of its usage lines and errors.
    package var program: String
    /// What the program is, in a few words.
    package var summary: String
    /// Its commands, in the order of the help text.
    package var commands: [Command]
    /// The options every command has.
    package var globalOptions: [Command.Option]
    /// Texts of the help in Korean, by the English ones. What is not here stays English.
    package var korean: [String: String] = [:]

    /// Describes a program.
    package init(
        program: String, summary: String, commands: [Command], globalOptions: [Command.Option] = []
    ) {
        self.program = program
        self.summary = summary
        self.commands = commands
        self.globalOptions = globalOptions
    }

    /// The option every command has without being told.
    package static let helpOption = Command.Option.flag("help", short: "h", "Show this help.")

    /// What shells ask the program with: `syncctl --complete users u- [STORE]` prints the names that begin so, one a line. It is in
    /// no help, and answers soon or not at all.
    package static let namesOption = "--complete"

    /// The command with this name (one or two words).
    package func command(named name: String) -> Command? {
        commands.first { $0.name == name }
    }

    /// A text of the help in this language.
    func text(_ english: String, in language: Language) -> String {
        language == .korean ? korean[english] ?? english : english
    }

    /// All options a command understands: its own first.
    func options(of command: Command) -> [Command.Option] {
        command.options + globalOptions + [Self.helpOption]
    }

    /// Every option of every command, each name once.
    var allOptions: [Command.Option] {
        var seen: Set<String> = []
        return (globalOptions + [Self.helpOption] + commands.flatMap(\.options)).filter {
            seen.insert($0.name).inserted
        }
    }
}
