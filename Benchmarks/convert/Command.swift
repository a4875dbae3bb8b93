internal import Converters

/// The command line could not be understood.
struct UsageError: Error, Equatable {
    var message: String
}

/// What the command line asks for.
enum Command: Equatable {
    case help
    case list
    case convert(set: String, dataFolder: String?, options: ConversionOptions)

    static let usage = """
        usage: sillok-convert <set> [--data DIR] [--frames] [--limit N] > out.ndjson
               sillok-convert list
          --data DIR  the folder with one folder per set (default: ../shared/data beside the package)
          --frames    put each turn's annotation into the payload (en_sgd)
          --limit N   stop after N lines
        """

    init(_ arguments: [String]) throws(UsageError) {
        var words: [String] = []
        var folder: String?
        var options = ConversionOptions()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-h", "--help":
                self = .help
                return
            case "--frames": options.frames = true
            case "--data": folder = try Self.value(of: argument, &rest)
            case "--limit":
                guard let limit = Int(try Self.value(of: argument, &rest)), limit >= 0 else {
                    throw UsageError(message: "--limit takes a number of lines")
                }
                options.limit = limit
            case _ where argument.hasPrefix("-"): throw UsageError(message: "unknown option: \(argument)")
            default: words.append(argument)
            }
        }
        guard words.count == 1 else { throw UsageError(message: "name one set, or: list") }
        self = words[0] == "list" ? .list : .convert(set: words[0], dataFolder: folder, options: options)
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> String {
        guard let value = rest.popFirst() else { throw UsageError(message: "\(option) needs a value") }
        return value
    }
}
