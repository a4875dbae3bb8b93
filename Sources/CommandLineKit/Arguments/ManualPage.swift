extension CommandTable {
    /// What an installation puts beside the program, if the command line is `--generate` with `man`, `bash`, `zsh` or `fish`.
    package func generated(
        by words: [String], section: Int, version: String, seeAlso: [String], chapters: [ManualChapter] = []
    ) -> String? {
        switch words {
        case ["--generate", "man"]:
            manualPage(section: section, version: version, seeAlso: seeAlso, chapters: chapters)
        case ["--generate", "bash"]: bashCompletion()
        case ["--generate", "zsh"]: zshCompletion()
        case ["--generate", "fish"]: fishCompletion()
        default: nil
        }
    }

    /// The program's manual page in the man(7) macros of roff, made from what the parser reads by.
    ///
    /// - Parameters:
    ///   - section: of the manual: 1 for programs of users, 8 for daemons.
    ///   - seeAlso: other pages, as `syncd(8)`.
    ///   - chapters: what the parser does not know, as environment and files.
    package func manualPage(
        section: Int, version: String, seeAlso: [String], chapters: [ManualChapter] = []
    ) -> String {
        var page = ManualPage()
        page.heading(program, section: section, version: version)
        page.section("NAME")
        page.text("\(program) - \(summary)")
        page.section("SYNOPSIS")
        if let only = command(named: "") {
            page.bold(usage(of: only))
            page.details(of: only)
        } else {
            page.bold("\(program) <command> [options]")
            for group in groups {
                page.section(group.uppercased())
                for command in commands where command.group == group {
                    page.subsection(usage(of: command))
                    page.text(command.summary + ".")
                    page.details(of: command)
                }
            }
        }
        page.section("GENERAL OPTIONS")
        page.options(globalOptions + [Self.helpOption])
        if allOptions.contains(where: { $0.placeholder == "TIME" }) {
            page.section("TIME")
            page.text(TimeSyntaxError.forms)
            page.text(TimeSyntaxError.rules)
        }
        for chapter in chapters {
            page.section(chapter.title)
            for (term, text) in chapter.entries { page.item(term, text) }
        }
        page.section("EXIT STATUS")
        for code in ExitCode.allCases { page.item("\(code.rawValue)", code.meaning) }
        page.section("SEE ALSO")
        page.text(seeAlso.joined(separator: ", "))
        return page.roff
    }
}

/// A chapter of a manual page that lists terms, as variables and files.
package struct ManualChapter: Sendable {
    let title: String
    let entries: [(term: String, text: String)]

    /// A chapter with this title, in capitals, and these entries.
    package init(_ title: String, _ entries: [(term: String, text: String)]) {
        self.title = title
        self.entries = entries
    }
}

/// A page under construction. What is written is plain text; the marks that roff would take for its own are escaped.
private struct ManualPage {
    private(set) var roff = ""
    private var isBehindHeading = false

    mutating func heading(_ program: String, section: Int, version: String) {
        roff = ".TH \(program.uppercased()) \(section) \"\" \"\(program) \(version)\" \"Sillok\"\n"
    }

    mutating func section(_ title: String) {
        roff += ".SH \"\(escaped(title))\"\n"
        isBehindHeading = true
    }

    mutating func subsection(_ title: String) {
        roff += ".SS \"\(escaped(title))\"\n"
        isBehindHeading = true
    }

    mutating func bold(_ text: String) {
        roff += ".B \"\(escaped(text))\"\n"
        isBehindHeading = false
    }

    mutating func text(_ text: String) {
        for paragraph in text.split(separator: "\n\n") {
            // Behind a heading a paragraph begins by itself.
            roff += isBehindHeading ? "" : ".PP\n"
            roff += filled(String(paragraph))
            isBehindHeading = false
        }
    }

    mutating func item(_ term: String, _ text: String) {
        roff += ".TP\n.B \"\(escaped(term))\"\n\(filled(text))"
        isBehindHeading = false
    }

    mutating func options(_ options: [Command.Option]) {
        for option in options {
            let names = (option.short.map { "-\($0), " } ?? "") + "--" + option.name
            item(names + (option.placeholder.map { " \($0)" } ?? ""), option.explanation)
        }
    }

    mutating func details(of command: Command) {
        for argument in command.arguments { item("<\(argument.name)>", argument.explanation) }
        options(command.options)
        text(command.discussion)
        if !command.examples.isEmpty { roff += ".PP\nExamples:\n" }
        for example in command.examples {
            roff += ".PP\n\(escaped(example.shows)):\n.PP\n.RS 4\n.nf\n\(escaped(example.command))\n.fi\n.RE\n"
        }
    }

    /// Words on lines that readers of the source can read, too; roff fills them anew.
    private func filled(_ text: String) -> String {
        var lines = ""
        var line = ""
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if !line.isEmpty, escaped(line).utf8.count + 1 + escaped(String(word)).utf8.count > 78 {
                lines += escaped(line) + "\n"
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return lines + escaped(line) + "\n"
    }

    /// groff_char(7): a backslash, dashes that are to be typed, quotes within arguments; and lines that begin like a request.
    private func escaped(_ text: String) -> String {
        var out = ""
        for character in text {
            switch character {
            case "\\": out += "\\e"
            case "-": out += "\\-"
            case "\"": out += "\\(dq"
            case "'": out += "\\(aq"
            case "`": out += "\\(ga"
            case "^": out += "\\(ha"
            case "~": out += "\\(ti"
            case ".": out += out.isEmpty || out.hasSuffix("\n") ? "\\&." : "."
            default:
                // Not all readers of manual pages take UTF-8; all take the names of characters.
                for scalar in character.unicodeScalars {
                    let digits = String(scalar.value, radix: 16, uppercase: true)
                    let name = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
                    out += scalar.isASCII ? String(scalar) : "\\[u\(name)]"
                }
            }
        }
        return out
    }
}
