extension CommandTable {
    /// The help of one command, or of the program: examples first, then what can be given. It fits `width` columns
    /// as long as the examples and names do.
    public func help(for command: Command?, width: Int = 80) -> String {
        if let command = command ?? self.command(named: "") {
            return HelpText(width: min(max(width, 40), 100)).text(for: command, in: self)
        }
        return HelpText(width: min(max(width, 40), 100)).text(for: self)
    }
}

private struct HelpText {
    let width: Int

    func text(for command: Command, in table: CommandTable) -> String {
        let title = command.name.isEmpty ? table.program : table.program + " " + command.name
        var lines = wrap("\(title): \(command.summary)", indent: 0)
        lines += ["", "Usage: " + usage(of: command, title: title)]
        if !command.examples.isEmpty {
            lines += ["", "Examples:"]
            for example in command.examples {
                lines.append("  " + example.command)
                lines += wrap(example.shows, indent: 6)
            }
        }
        if !command.arguments.isEmpty {
            lines += ["", "Arguments:"]
            for argument in command.arguments {
                lines += entry("<\(argument.name)>", argument.help + choices(argument.allowed))
            }
        }
        lines += section("Options:", command.options)
        lines += section("General options:", table.globalOptions + [CommandTable.helpOption])
        for paragraph in command.discussion.split(separator: "\n\n") {
            lines += [""] + wrap(String(paragraph), indent: 0)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    func text(for table: CommandTable) -> String {
        var lines = wrap("\(table.program): \(table.summary)", indent: 0)
        lines += ["", "Usage: \(table.program) <command> [options]"]
        var groups: [String] = []
        for command in table.commands where !groups.contains(command.group) {
            groups.append(command.group)
        }
        for group in groups {
            lines += ["", group.isEmpty ? "Commands:" : group + ":"]
            for command in table.commands where command.group == group {
                let arguments = command.arguments.map(usage).joined(separator: " ")
                lines += entry(arguments.isEmpty ? command.name : command.name + " " + arguments, command.summary)
            }
        }
        lines += section("General options:", table.globalOptions + [CommandTable.helpOption])
        lines += ["", "More: \(table.program) <command> --help"]
        return lines.joined(separator: "\n") + "\n"
    }

    private func usage(of command: Command, title: String) -> String {
        ([title] + command.arguments.map(usage) + ["[options]"]).joined(separator: " ")
    }

    private func usage(of argument: Command.Argument) -> String {
        switch argument.count {
        case .required: "<\(argument.name)>"
        case .optional: "[<\(argument.name)>]"
        case .repeating(let least): least > 0 ? "<\(argument.name)>..." : "[<\(argument.name)>...]"
        }
    }

    private func section(_ title: String, _ options: [Command.Option]) -> [String] {
        if options.isEmpty { return [] }
        var lines = ["", title]
        for option in options {
            let short = option.short.map { "-\($0), " } ?? "    "
            let value = option.placeholder.map { " " + $0 } ?? ""
            let again = option.isRepeatable ? " Repeatable." : ""
            lines += entry(short + "--" + option.name + value, option.help + choices(option.allowed) + again)
        }
        return lines
    }

    private func choices(_ allowed: [String]) -> String {
        allowed.isEmpty ? "" : " One of: \(allowed.joined(separator: ", "))."
    }

    /// A term at the left and its explanation in a second column, below it if the term is too long.
    private func entry(_ term: String, _ explanation: String) -> [String] {
        let column = 26
        var lines = wrap(explanation, indent: column)
        if DisplayWidth.of(term) + 4 <= column, let first = lines.first {
            lines[0] = DisplayWidth.pad("  " + term, to: column) + first.dropFirst(column)
        } else {
            lines.insert("  " + term, at: 0)
        }
        return lines
    }

    private func wrap(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = margin
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            let isFirst = line.count == indent
            if !isFirst, DisplayWidth.of(line) + 1 + DisplayWidth.of(word) > width {
                lines.append(line)
                line = margin + word
            } else {
                line += (isFirst ? "" : " ") + word
            }
        }
        return lines + (line.count > indent || lines.isEmpty ? [line] : [])
    }
}
