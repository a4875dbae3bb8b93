internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// `sillok-bot key`: sets, replaces, removes or tells of the key of the model's endpoint, in the file that the configuration names. A run
/// reads that file anew for each request.
struct KeyCommand {
    static let commands = [
        Command(
            "key set", "write the endpoint's key, one line of standard input, to its file", options: [config],
            examples: [
                .init("sillok-bot key set --config medibot.json5", "asks for the key, and does not show it"),
                .init("pass openai | sillok-bot key set --config medibot.json5", "from a keeper of passwords"),
            ],
            discussion: "The file is for its owner alone (0600), and keeps its owner. 'sillok-bot check' tries it."),
        Command(
            "key show", "say where the endpoint's key is, and whether it can be used; never the key",
            options: [config]),
        Command("key remove", "remove the file with the endpoint's key", options: [config]),
    ]

    private static let config = Command.Option.value(
        "config", "FILE", "The configuration, JSON5, whose endpoint.key_file is meant.")
    /// Keys are words of some dozens of characters.
    private static let longest = 4_096

    private let path: String
    private let output: Output

    init(_ arguments: ParsedArguments, _ output: Output) throws(CommandFailure) {
        self.output = output
        guard let config = arguments.value("config") else {
            throw CommandFailure(
                code: "E_USAGE", "--config is missing", hint: "--config FILE", exitCode: .usage)
        }
        guard let path = try BotConfiguration.read(config, needsEndpoint: true).endpoint?.keyFile else {
            throw CommandFailure(
                code: "E_CONFIG", "\(config): 'endpoint.key_file' is missing: no key is sent",
                hint: "endpoint: { key_file: \"NAME.key\" }, beside the configuration", exitCode: .configuration)
        }
        self.path = path
    }

    func run(_ name: String) throws(CommandFailure) -> ExitCode {
        switch name {
        case "key set": try set()
        case "key remove": try remove()
        default: return try show()
        }
        return .success
    }

    /// What stands there; `nil`: nothing. A link is not followed: what it leads to is kept by someone else.
    private func file() throws(CommandFailure) -> stat? {
        var found = stat()
        guard lstat(path, &found) == 0 else {
            guard errno == ENOENT else { throw CommandFailure(.system(path)) }
            return nil
        }
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(
                code: "E_IO", "\(path) is a link, or no file", hint: "endpoint.key_file names the file itself",
                exitCode: .cannotCreate)
        }
        return found
    }

    private func set() throws(CommandFailure) {
        let before = try file()
        let key = try Self.read()
        do throws(StoreError) {
            try SmallFile.replace(path, with: Array((key + "\n").utf8), mode: 0o600)
        } catch { throw CommandFailure(error) }
        if let before, geteuid() == 0, lchown(path, before.st_uid, before.st_gid) != 0 {
            throw CommandFailure(.system(path))
        }
        try output.line(before == nil ? "the key is in \(path)" : "the key in \(path) is another one now")
    }

    /// One word, not shown where it is typed.
    private static func read() throws(CommandFailure) -> String {
        let isTyped = isatty(STDIN_FILENO) == 1
        var shown = termios()
        if isTyped, tcgetattr(STDIN_FILENO, &shown) == 0 {
            Output.message("key (not shown):")
            var hidden = shown
            hidden.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        }
        let line = readLine()
        if isTyped { tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown) }
        let words = (line ?? "").split(whereSeparator: \.isWhitespace)
        guard words.count == 1, let key = words.first, key.utf8.count <= longest, key.allSatisfy(\.isASCII) else {
            throw CommandFailure(
                code: "E_USAGE", "that is no key: one word of ASCII, and nothing else",
                hint: "printf '%s\\n' \"$KEY\" | sillok-bot key set --config FILE", exitCode: .badInput)
        }
        return String(key)
    }

    private func remove() throws(CommandFailure) {
        guard try file() != nil else { return try output.line("there is no key in \(path)") }
        guard unlink(path) == 0 else { throw CommandFailure(.system(path)) }
        try output.line("\(path) is removed: nothing is answered until another key is there")
    }

    private func show() throws(CommandFailure) -> ExitCode {
        guard let found = try file() else {
            try output.line("there is no key in \(path)")
            return .nothingFound
        }
        guard found.st_mode & 0o077 == 0 else {
            throw CommandFailure(
                code: "E_KEY_OPEN", "others than its owner can read the key in \(path)",
                hint: "chmod 600 \(path)", exitCode: .configuration)
        }
        let since = Timestamp.text(Int64(found.st_mtim.tv_sec) * 1_000)
        try output.line("a key is in \(path), for the user \(found.st_uid) alone, since \(since)")
        return .success
    }
}
