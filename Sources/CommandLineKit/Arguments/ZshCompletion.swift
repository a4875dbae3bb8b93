extension CommandTable {
    /// A script that makes zsh complete the program's commands, options and values, with what they mean.
    package func zshCompletion() -> String {
        let takingValues = allOptions.filter { $0.placeholder != nil && $0.name != "store" }.flatMap(\.spellings)
        var lines = [
            "#compdef \(program)", "# zsh completion for \(program), made by '\(program) --generate zsh'",
            "_\(program)_names() {", "    local -a found",
            "    found=(${(f)\"$(\(program) \(Self.namesOption) $1 \"$PREFIX\" $store 2>/dev/null)\"})",
            "    compadd -a found", "}", "_\(program)() {",
            "    local cur=${words[CURRENT]} prev=${words[CURRENT-1]} first= second= store= names= i",
            "    local -a list options", "    for ((i = 2; i < CURRENT; i++)); do", "        case ${words[i]} in",
        ]
        if allOptions.contains(where: { $0.name == "store" }) {
            lines.append("        --store) ((i++)); store=${words[i]} ;;")
        }
        if !takingValues.isEmpty { lines.append("        \(takingValues.joined(separator: "|"))) ((i++)) ;;") }
        lines += [
            "        -*) ;;",
            "        *) if [[ -z $first ]]; then first=${words[i]}; else second=${second:-${words[i]}}; fi ;;",
            "        esac", "    done", "    case $prev in",
        ]
        for option in allOptions where option.placeholder != nil {
            lines.append("    \(option.spellings.joined(separator: "|"))) \(values(of: option)); return ;;")
        }
        lines += ["    esac", "    case \"$first $second\" in"]
        for command in commands.sorted(by: { $0.words.count > $1.words.count }) where !command.name.isEmpty {
            let pattern = command.words.count == 2 ? "'\(command.name)'" : "'\(command.name) '*"
            lines.append("    \(pattern)) \(offers(after: command)) ;;")
        }
        for word in prefixes { lines.append("    '\(word) '*) \(list(seconds(of: word))) ;;") }
        if let only = command(named: "") {
            lines.append("    *) \(offers(after: only)) ;;")
        } else {
            let firsts = unique(commands.compactMap(\.words.first)).map { first in
                (first, command(named: first)?.summary ?? "")
            }
            lines.append("    ' ') \(list(firsts)) ;;")
        }
        lines += [
            "    esac", "    if [[ $cur == -* ]]; then _describe option options; return; fi",
            "    (( $#list )) && _describe command list",
            "    [[ -n $names ]] && _\(program)_names $names", "    (( $#list )) || [[ -n $names ]] || _files", "}",
            // Out of $fpath it runs at once; sourced it says what it completes.
            "if [[ $funcstack[1] == _\(program) ]]; then _\(program) \"$@\"; else compdef _\(program) \(program); fi",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private func offers(after command: Command) -> String {
        let options = options(of: command).map { ("--" + $0.name, $0.help) }
        let second = command.words.count == 1 ? seconds(of: command.name) : []
        let words = second + command.arguments.flatMap(\.allowed).map { ($0, "") }
        let names = command.arguments.compactMap(\.names).first.map { "; names=\($0)" } ?? ""
        return "\(list(words)); \(list(options, into: "options"))\(names)"
    }

    private func seconds(of word: String) -> [(String, String)] {
        commands.filter { $0.name.hasPrefix(word + " ") }.map { ($0.words[1], $0.summary) }
    }

    private func list(_ entries: [(word: String, help: String)], into name: String = "list") -> String {
        let items = entries.map { entry in
            let word = entry.word.replacing(scalar: ":", with: "\\:")
            return quoted(entry.help.isEmpty ? word : "\(word):\(entry.help)")
        }
        return "\(name)=(\(items.joined(separator: " ")))"
    }

    private func values(of option: Command.Option) -> String {
        if !option.allowed.isEmpty { return "compadd -- \(option.allowed.joined(separator: " "))" }
        if let names = option.names { return "_\(program)_names \(names)" }
        return switch option.placeholder {
        case "DIR": "_files -/"
        case "FILE", "PATH": "_files"
        default: "_message \(quoted(option.help))"
        }
    }

    private func quoted(_ text: String) -> String { "'" + text.replacing(scalar: "'", with: "'\\''") + "'" }
}
