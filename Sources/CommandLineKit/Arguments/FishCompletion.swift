extension CommandTable {
    /// A script that makes fish complete the program's commands, options and values, with what they mean.
    package func fishCompletion() -> String {
        let takingValues = allOptions.filter { $0.placeholder != nil }.flatMap(\.spellings)
        let twoWords = commands.filter { $0.words.count == 2 }.map { quoted($0.name) }
        var lines = [
            "# fish completion for \(program), made by '\(program) --generate fish'",
            "function __\(program)_words -d 'The words before the cursor that are no options'", "    set -l skip 0",
            "    for token in (commandline -opc)[2..-1]", "        if test $skip = 1; set skip 0; continue; end",
            "        switch $token",
        ]
        if !takingValues.isEmpty {
            lines.append("            case \(takingValues.joined(separator: " ")); set skip 1")
        }
        lines += [
            "            case '-*'", "            case '*'; echo -- $token", "        end", "    end", "end",
            "function __\(program)_command -d 'The command that was given: two words, or one'",
            "    set -l given (__\(program)_words)", "    set -l two \"$given[1] $given[2]\"",
            "    if contains -- $two \(twoWords.joined(separator: " ")); echo $two; else; echo $given[1]; end", "end",
            "function __\(program)_at; test (__\(program)_command) = \"$argv\"; end",
            "function __\(program)_count; test (count (__\(program)_words)) -eq $argv[1]; end",
            "function __\(program)_store", "    set -l tokens (commandline -opc)",
            "    set -l place (contains -i -- --store $tokens); and echo -- $tokens[(math $place + 1)]", "end",
            "function __\(program)_names",
            "    \(program) \(Self.namesOption) $argv[1] (commandline -ct) (__\(program)_store) 2>/dev/null", "end",
            "complete -c \(program) -f",
        ]
        for option in globalOptions + [Self.helpOption] { lines.append(complete(option)) }
        for first in unique(commands.compactMap(\.words.first)) {
            let help = command(named: first)?.summary ?? ""
            lines.append(complete("__\(program)_count 0", "-a \(quoted(first))", help))
        }
        for command in commands { lines += completions(of: command) }
        return lines.joined(separator: "\n") + "\n"
    }

    private func completions(of command: Command) -> [String] {
        let at = command.name.isEmpty ? nil : "__\(program)_at \(command.name)"
        var lines: [String] = []
        if command.words.count == 2 {
            let first = command.words[0]
            let here = "__\(program)_count 1; and test (__\(program)_words)[1] = \(first)"
            lines.append(complete(here, "-a \(quoted(command.words[1]))", command.summary))
        }
        for argument in command.arguments {
            if !argument.allowed.isEmpty {
                lines.append(complete(at, "-a \(quoted(argument.allowed.joined(separator: " ")))", argument.help))
            } else if let names = argument.names {
                lines.append(complete(at, "-a \(quoted("(__\(program)_names \(names))"))", argument.help))
            } else if ["file", "folder", "input"].contains(argument.name) {
                lines.append(complete(at, "-F", argument.help))
            }
        }
        return lines + command.options.map { complete($0, condition: at) }
    }

    private func complete(_ option: Command.Option, condition: String? = nil) -> String {
        var words = "-l \(option.name)" + (option.short.map { " -s \($0)" } ?? "")
        if let placeholder = option.placeholder {
            if !option.allowed.isEmpty {
                words += " -x -a \(quoted(option.allowed.joined(separator: " ")))"
            } else if let names = option.names {
                words += " -x -a \(quoted("(__\(program)_names \(names))"))"
            } else {
                words += ["DIR", "FILE", "PATH"].contains(placeholder) ? " -r -F" : " -x"
            }
        }
        return complete(condition, words, option.help)
    }

    private func complete(_ condition: String?, _ words: String, _ help: String) -> String {
        let condition = condition.map { " -n \(quoted($0))" } ?? ""
        return "complete -c \(program)\(condition) \(words)" + (help.isEmpty ? "" : " -d \(quoted(help))")
    }

    private func quoted(_ text: String) -> String {
        "'" + text.replacing(scalar: "\\", with: "\\\\").replacing(scalar: "'", with: "\\'") + "'"
    }
}
