extension CommandTable {
    /// The help of one command, of several, or of the program: examples first, then what can be given. It fits `width`
    /// columns as long as the examples and names do.
    package func help(for topic: HelpTopic, width: Int = 80, in language: Language = .english) -> String {
        let text = HelpText(width: min(max(width, 40), 100), language: language, table: self)
        switch topic {
        case .command(let command): return text.text(for: command, in: self)
        case .commands(let word): return text.text(forCommandsBeginning: word, in: self)
        case .program: return command(named: "").map { text.text(for: $0, in: self) } ?? text.text(for: self)
        }
    }
}

extension CommandTable {
    /// `syncctl history <user> [options]`.
    func usage(of command: Command, in language: Language = .english) -> String {
        let title = command.name.isEmpty ? program : program + " " + command.name
        let options = HelpWording.optionsOperand.phrase.text(language)
        return ([title] + command.arguments.map(\.usage) + [options]).joined(separator: " ")
    }

    /// The headings that commands stand under, each once.
    var groups: [String] {
        commands.reduce(into: []) { groups, command in
            if !groups.contains(command.group) { groups.append(command.group) }
        }
    }
}

extension Command.Argument {
    /// `<user>`, `[<user>]`, `<user>...`.
    var usage: String {
        switch count {
        case .required: "<\(name)>"
        case .optional: "[<\(name)>]"
        case .repeating(let least): least > 0 ? "<\(name)>..." : "[<\(name)>...]"
        }
    }

    /// Its help with the values it may have.
    var explanation: String { help + choices(allowed, .english) }
}

extension Command.Option {
    /// Its help with the values it may have.
    var explanation: String { explanation(help, .english) }

    fileprivate func explanation(_ help: String, _ language: Language) -> String {
        help + choices(allowed, language) + (isRepeatable ? HelpWording.repeatable.phrase.text(language) : "")
    }
}

private func choices(_ allowed: [String], _ language: Language) -> String {
    allowed.isEmpty ? "" : HelpWording.oneOf.phrase.text(language, [allowed.joined(separator: ", ")])
}

private struct HelpText {
    let width: Int
    let language: Language
    let table: CommandTable

    private func heading(_ wording: HelpWording, _ values: String...) -> String {
        wording.phrase.text(language, values)
    }

    private func text(_ english: String) -> String { table.text(english, in: language) }

    func text(for command: Command, in table: CommandTable) -> String {
        let title = command.name.isEmpty ? table.program : table.program + " " + command.name
        var lines = wrap("\(title): \(text(command.summary))", indent: 0)
        lines += ["", heading(.usage, table.usage(of: command, in: language))]
        if !command.examples.isEmpty {
            lines += ["", heading(.examples)]
            for example in command.examples {
                lines.append("  " + example.command)
                lines += wrap(text(example.shows), indent: 6)
            }
        }
        lines += list(heading(.commands), table.commands.filter { $0.name.hasPrefix(command.name + " ") })
        if !command.arguments.isEmpty {
            lines += ["", heading(.arguments)]
            for argument in command.arguments {
                lines += entry("<\(argument.name)>", text(argument.help) + choices(argument.allowed, language))
            }
        }
        lines += section(heading(.options), command.options)
        lines += section(heading(.generalOptions), table.globalOptions + [CommandTable.helpOption])
        if command.options.contains(where: { $0.placeholder == "TIME" }) {
            lines += ["", heading(.time)] + wrap(TimeSyntaxError.forms(language), indent: 2)
        }
        for paragraph in text(command.discussion).split(separator: "\n\n") {
            lines += [""] + wrap(String(paragraph), indent: 0)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    func text(forCommandsBeginning word: String, in table: CommandTable) -> String {
        let title = table.program + " " + word
        let operands = "\(title) \(heading(.commandOperand))"
        var lines = [heading(.usage, "\(operands) \(heading(.optionsOperand))")]
        lines += list(heading(.commands), table.commands.filter { $0.name.hasPrefix(word + " ") })
        lines += section(heading(.generalOptions), table.globalOptions + [CommandTable.helpOption])
        lines += ["", heading(.more, "\(operands) --help")]
        return lines.joined(separator: "\n") + "\n"
    }

    func text(for table: CommandTable) -> String {
        let operands = "\(table.program) \(heading(.commandOperand))"
        var lines = wrap("\(table.program): \(text(table.summary))", indent: 0)
        lines += ["", heading(.usage, "\(operands) \(heading(.optionsOperand))")]
        for group in table.groups {
            let title = group.isEmpty ? heading(.commands) : text(group) + ":"
            lines += list(title, table.commands.filter { $0.group == group })
        }
        lines += section(heading(.generalOptions), table.globalOptions + [CommandTable.helpOption])
        lines += ["", heading(.more, "\(operands) --help")]
        return lines.joined(separator: "\n") + "\n"
    }

    private func list(_ title: String, _ commands: [Command]) -> [String] {
        if commands.isEmpty { return [] }
        return ["", title]
            + commands.flatMap { command in
                entry(([command.name] + command.arguments.map(\.usage)).joined(separator: " "), text(command.summary))
            }
    }

    private func section(_ title: String, _ options: [Command.Option]) -> [String] {
        if options.isEmpty { return [] }
        var lines = ["", title]
        for option in options {
            let short = option.short.map { "-\($0), " } ?? "    "
            let value = option.placeholder.map { " " + $0 } ?? ""
            lines += entry(short + "--" + option.name + value, option.explanation(text(option.help), language))
        }
        return lines
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
