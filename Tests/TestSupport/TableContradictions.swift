package import CommandLineKit

extension CommandTable {
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
            let names = (command.options + globalOptions + [Self.helpOption]).map(\.name)
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
