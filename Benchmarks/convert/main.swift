internal import Converters
internal import Glibc

/// Converts one dataset to native NDJSON on standard output; the counts go to standard error.
func run(_ arguments: [String]) throws {
    switch try Command(arguments) {
    case .help: print(Command.usage)
    case .list: ConverterRegistry.all.forEach { print($0.name) }
    case .convert(let set, let folder, let options):
        guard let converter = ConverterRegistry.converter(named: set) else {
            throw UsageError(message: "no such set: \(set); see: sillok-convert list")
        }
        guard let root = folder ?? DataFolder.find() else {
            throw UsageError(message: "the data folder was not found; give it with --data DIR")
        }
        var output = StandardOutput()
        let counts = try converter.init(options: options).convert(from: root + "/" + set) { line in
            try output.write(line)
        }
        try output.flush()
        complain("\(set): \(counts)")
    }
}

/// Writes one line to standard error.
func complain(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

signal(SIGPIPE, SIG_IGN)
do {
    try run(Array(CommandLine.arguments.dropFirst()))
} catch let error as UsageError {
    complain("sillok-convert: \(error.message)")
    complain(Command.usage)
    exit(2)
} catch let error as OutputError where error.code == EPIPE {
    // The reader, head for instance, has had enough.
    exit(128 + SIGPIPE)
} catch {
    complain("sillok-convert: \(error)")
    exit(1)
}
