extension CommandTable {
    /// A script that makes bash complete the program's commands, options and values.
    package func bashCompletion() -> String {
        let takingValues = allOptions.filter { $0.placeholder != nil && $0.name != "store" }.flatMap(\.spellings)
        var lines = [
            "# bash completion for \(program), made by '\(program) --generate bash'",
            "_\(program)() {",
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} first= second= store= i",
            "    for ((i = 1; i < COMP_CWORD; i++)); do",
            "        case ${COMP_WORDS[i]} in",
        ]
        if let store = allOptions.first(where: { $0.name == "store" }) {
            lines.append("        --\(store.name)) ((i++)); store=${COMP_WORDS[i]} ;;")
        }
        if !takingValues.isEmpty { lines.append("        \(takingValues.joined(separator: " | "))) ((i++)) ;;") }
        lines += [
            "        -*) ;;",
            "        *) if [[ -z $first ]]; then first=${COMP_WORDS[i]}; else second=${second:-${COMP_WORDS[i]}}; fi ;;",
            "        esac",
            "    done",
            "    case $prev in",
        ]
        for option in allOptions where option.placeholder != nil {
            lines.append("    \(option.spellings.joined(separator: " | "))) \(values(of: option)); return ;;")
        }
        lines += ["    esac", "    local words names=", "    case \"$first $second\" in"]
        // Two words before one: `peers add` is not `peers` with an argument.
        for command in commands.sorted(by: { $0.words.count > $1.words.count }) where !command.name.isEmpty {
            let pattern = command.words.count == 2 ? "'\(command.name)'" : "'\(command.name) '*"
            lines.append("    \(pattern)) words='\(completions(after: command))'\(asking(after: command)) ;;")
        }
        for word in prefixes { lines.append("    '\(word) '*) words='\(seconds(of: word))' ;;") }
        // A program without commands completes its options wherever its arguments stand.
        let (pattern, top) =
            command(named: "").map { ("*", completions(after: $0)) }
            ?? ("' '*", unique(commands.compactMap(\.words.first)).joined(separator: " "))
        lines += [
            "    \(pattern)) words='\(top)' ;;", "    esac", "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))",
            "    if [[ $names && $cur != -* ]]; then _\(program)_names \"$names\"; fi", "}",
            // A shell's words are cut at blanks; names need not be.
            "_\(program)_names() {", "    local name",
            "    while IFS= read -r name; do COMPREPLY+=(\"$(printf %q \"$name\")\"); done \\",
            "        < <(\(program) \(Self.namesOption) \"$1\" \"$cur\" $store 2>/dev/null)", "}",
            "complete -o default -F _\(program) \(program)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// First words that are no command by themselves.
    var prefixes: [String] {
        unique(commands.filter { $0.words.count == 2 }.map { $0.words[0] }).filter { command(named: $0) == nil }
    }

    private func seconds(of word: String) -> String {
        unique(commands.filter { $0.name.hasPrefix(word + " ") }.map { $0.words[1] }).joined(separator: " ")
    }

    private func completions(after command: Command) -> String {
        let options = options(of: command).map { "--" + $0.name }
        let second = command.words.count == 1 ? [seconds(of: command.name)].filter { !$0.isEmpty } : []
        return (second + command.arguments.flatMap(\.allowed) + options).joined(separator: " ")
    }

    private func asking(after command: Command) -> String {
        command.arguments.compactMap(\.names).first.map { "; names=\($0)" } ?? ""
    }

    private func values(of option: Command.Option) -> String {
        if !option.allowed.isEmpty {
            return "COMPREPLY=($(compgen -W '\(option.allowed.joined(separator: " "))' -- \"$cur\"))"
        }
        if let names = option.names { return "COMPREPLY=(); _\(program)_names \(names)" }
        return switch option.placeholder {
        case "DIR": "COMPREPLY=($(compgen -d -- \"$cur\"))"
        case "FILE", "PATH": "COMPREPLY=($(compgen -f -- \"$cur\"))"
        default: "COMPREPLY=()"
        }
    }

    func unique(_ words: [String]) -> [String] {
        words.enumerated().filter { words.firstIndex(of: $1) == $0 }.map(\.element)
    }
}

extension Command {
    var words: [String] { name.split(separator: " ").map(String.init) }
}

extension Command.Option {
    /// All ways to write it.
    var spellings: [String] { ["--" + name] + (short.map { ["-\($0)"] } ?? []) }
}
