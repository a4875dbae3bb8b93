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

    /// The command with this name (one or two words).
    package func command(named name: String) -> Command? {
        commands.first { $0.name == name }
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

    /// What is contradictory in the table, for a test to hold it to nothing.
    ///
    /// Options may stand before the command, so a name must mean the same in all commands: one arity, one short name,
    /// and no short name for two options.
    package func contradictions() -> [String] {
        var found: [String] = []
        let options = globalOptions + [Self.helpOption] + commands.flatMap(\.options)
        for (index, option) in options.enumerated() {
            for other in options[..<index] {
                if other.name == option.name {
                    if (other.placeholder == nil) != (option.placeholder == nil) {
                        found.append("--\(option.name) is a flag in one command and has a value in another")
                    }
                    if other.short != option.short {
                        found.append("--\(option.name) has different short names")
                    }
                } else if let short = option.short, other.short == short {
                    found.append("-\(short) is both --\(other.name) and --\(option.name)")
                }
            }
        }
        for (index, command) in commands.enumerated() {
            if commands[..<index].contains(where: { $0.name == command.name }) {
                found.append("two commands are named '\(command.name)'")
            }
            let names = self.options(of: command).map(\.name)
            for name in Set(names).sorted() where names.filter({ $0 == name }).count > 1 {
                found.append("'\(command.name)' has --\(name) twice")
            }
            for argument in command.arguments.dropLast() where argument.count != .required {
                found.append("'\(command.name)': only the last argument may be optional or repeated")
            }
        }
        return found
    }
}
