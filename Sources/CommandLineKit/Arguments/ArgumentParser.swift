extension CommandTable {
    /// What a command line asks for.
    package enum Invocation: Sendable, Equatable {
        /// Run the command.
        case run(ParsedArguments)
        /// Print the help of this.
        case help(HelpTopic)
    }

    /// What there is help about.
    package enum HelpTopic: Sendable, Equatable {
        /// The program.
        case program
        /// One command.
        case command(Command)
        /// The commands that begin with this word.
        case commands(beginning: String)
    }

    /// Reads a command line, without the program's own name, in the GNU style.
    ///
    /// `--name value`, `--name=value`, `-n value`, `-nvalue` and `-ab` for two flags; options may stand anywhere, before
    /// the command too; `--` ends them; a lone `-` is an ordinary word. A value that begins with a dash must be attached
    /// (`--since=-2h`), so that a forgotten value never swallows the next option. `--help` wins over every error; `help` as
    /// the first word is the same. ``Command/Argument/mayBeNegated`` lets words begin with a dash.
    package func parse(_ words: [String]) throws(UsageError) -> Invocation {
        var scan = OptionScan(table: self)
        scan.read(words)

        let asksFirst = scan.positionals.first == "help" && command(named: "help") == nil && command(named: "") == nil
        let (command, positionals, nameError) = identify(
            asksFirst ? Array(scan.positionals.dropFirst()) : scan.positionals)
        if asksFirst, let nameError, case .unknownCommand = nameError { throw nameError }
        if scan.helpAsked || asksFirst { return .help(topic(command, nameError)) }
        if let error = nameError, scan.firstError == nil { throw error }
        if let error = scan.firstError {
            throw refine(error, for: command)
        }
        guard let command else { throw .noCommand }
        let declared = options(of: command)
        return .run(
            ParsedArguments(
                command: command, declared: declared,
                optionValues: try check(scan.given, against: declared, of: command),
                positionalValues: try assign(positionals, to: command)))
    }

    private func topic(_ command: Command?, _ nameError: UsageError?) -> HelpTopic {
        if case .incompleteCommand(let word, _) = nameError { return .commands(beginning: word) }
        return command.map { .command($0) } ?? .program
    }

    /// Finds the command at the head of the positional words: two words, one word, or the nameless command.
    fileprivate func identify(_ words: [String]) -> (Command?, [String], UsageError?) {
        if let only = command(named: "") { return (only, words, nil) }
        guard let first = words.first else { return (nil, [], .noCommand) }
        if words.count > 1, let found = command(named: first + " " + words[1]) {
            return (found, Array(words.dropFirst(2)), nil)
        }
        if let found = command(named: first) { return (found, Array(words.dropFirst()), nil) }

        let seconds = commands.map(\.name).filter { $0.hasPrefix(first + " ") }
        if !seconds.isEmpty {
            let choices = seconds.map { String($0.dropFirst(first.count + 1)) }
            guard words.count > 1 else { return (nil, [], .incompleteCommand(first, choices: choices)) }
            let nearest = Suggestion.nearest(to: words[1], among: choices)
            let error = UsageError.unknownCommand(
                first + " " + words[1], suggestion: nearest.map { "'\(program) \(first) \($0)'" })
            return (nil, [], nearest == nil ? .incompleteCommand(first, choices: choices) : error)
        }
        var names = commands.map(\.name)
        names += names.compactMap { $0.split(separator: " ").first.map(String.init) }
        let nearest = Suggestion.nearest(to: first, among: names)
        return (nil, [], .unknownCommand(first, suggestion: nearest.map { "'\(program) \($0)'" }))
    }

    /// Suggests among the options the command has, now that it is known.
    private func refine(_ error: UsageError, for command: Command?) -> UsageError {
        guard case .unknownOption(let option, _, _) = error else { return error }
        let name = command?.name ?? ""
        guard option.hasPrefix("--") else { return .unknownOption(option, suggestion: nil, command: name) }
        let candidates = command.map { options(of: $0) } ?? allOptions
        let nearest = Suggestion.nearest(to: String(option.dropFirst(2)), among: candidates.map(\.name))
        return .unknownOption(option, suggestion: nearest.map { "--" + $0 }, command: name)
    }

    private func check(
        _ given: [OptionScan.Given], against declared: [Command.Option], of command: Command
    ) throws(UsageError) -> [String: [String]] {
        var values: [String: [String]] = [:]
        for one in given {
            guard let option = declared.first(where: { $0.name == one.option.name }) else {
                throw .foreignOption(one.spelling, command: command.name)
            }
            guard let value = one.value else {
                values[option.name] = []
                continue
            }
            try Self.check(value, name: one.spelling, among: option.allowed)
            if !option.isRepeatable, let first = values[option.name]?.first, first != value {
                throw .repeatedOption(one.spelling, first: first, second: value)
            }
            values[option.name, default: []].append(value)
        }
        return values
    }

    private func assign(_ words: [String], to command: Command) throws(UsageError) -> [String: [String]] {
        var values: [String: [String]] = [:]
        var rest = words[...]
        for argument in command.arguments {
            let taken: ArraySlice<String>
            switch argument.count {
            case .required:
                taken = rest.prefix(1)
                if taken.isEmpty { throw .missingArgument(argument.name, command: command.name) }
            case .optional:
                taken = rest.prefix(1)
            case .repeating(let least):
                taken = rest
                if taken.count < least { throw .missingArgument(argument.name, command: command.name) }
            }
            for word in taken {
                // Of a script whose variable is not set.
                if word.isEmpty { throw .missingArgument(argument.name, command: command.name) }
                try Self.check(word, name: "<\(argument.name)>", among: argument.allowed)
            }
            values[argument.name] = Array(taken)
            rest = rest.dropFirst(taken.count)
        }
        if let extra = rest.first { throw .unexpectedArgument(extra, command: command.name) }
        return values
    }

    private static func check(_ value: String, name: String, among allowed: [String]) throws(UsageError) {
        if allowed.isEmpty || allowed.contains(value) { return }
        throw .notAllowed(
            name: name, value: value, allowed: allowed,
            suggestion: allowed.count > 1 ? Suggestion.nearest(to: value, among: allowed) : nil)
    }
}

/// The first pass over a command line: which words are options, which are values, which are positional.
///
/// It runs before the command is known, so it goes by all options of all commands; the first error is kept and not
/// thrown, because a later `--help` outranks it.
private struct OptionScan {
    struct Given {
        let option: Command.Option
        let spelling: String
        let value: String?
    }

    let table: CommandTable
    let options: [Command.Option]
    var given: [Given] = []
    var positionals: [String] = []
    var helpAsked = false
    var firstError: UsageError?

    init(table: CommandTable) {
        self.table = table
        options = table.allOptions
    }

    mutating func read(_ words: [String]) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                positionals += rest
                return
            } else if word.hasPrefix("--") {
                readLong(word, &rest)
            } else if word.hasPrefix("-"), word != "-", !isNegatedWord(word) {
                readShort(word, &rest)
            } else {
                positionals.append(word)
            }
        }
    }

    private func isNegatedWord(_ word: String) -> Bool {
        let (command, words, _) = table.identify(positionals)
        guard let command, command.arguments.last?.mayBeNegated ?? false, !words.isEmpty else { return false }
        return !table.options(of: command).contains { $0.short == word.dropFirst().first }
    }

    private mutating func readLong(_ word: String, _ rest: inout ArraySlice<String>) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? "")
        let attached = parts.count > 1 ? String(parts[1]) : nil
        guard let option = options.first(where: { $0.name == name }) else {
            return note(.unknownOption("--" + name, suggestion: nil))
        }
        record(option, spelling: "--" + name, attached: attached, &rest)
    }

    private mutating func readShort(_ word: String, _ rest: inout ArraySlice<String>) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.short == letter }) else {
                return note(.unknownOption("-\(letter)", suggestion: nil))
            }
            let takesRest = option.placeholder != nil && !letters.isEmpty
            record(option, spelling: "-\(letter)", attached: takesRest ? String(letters) : nil, &rest)
            if takesRest { return }
        }
    }

    private mutating func record(
        _ option: Command.Option, spelling: String, attached: String?, _ rest: inout ArraySlice<String>
    ) {
        guard let placeholder = option.placeholder else {
            if attached != nil { note(.unexpectedValue(option: spelling)) }
            if option.name == CommandTable.helpOption.name { helpAsked = true }
            given.append(Given(option: option, spelling: spelling, value: nil))
            return
        }
        if let attached {
            given.append(Given(option: option, spelling: spelling, value: attached))
        } else if let next = rest.first, next == "-" || !next.hasPrefix("-") {
            rest.removeFirst()
            given.append(Given(option: option, spelling: spelling, value: next))
        } else {
            note(.missingValue(option: spelling, placeholder: placeholder))
        }
    }

    private mutating func note(_ error: UsageError) {
        if firstError == nil { firstError = error }
    }
}
