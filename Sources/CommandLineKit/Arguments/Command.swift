/// One command, described once: the parser, the help text and the completions are all made from this value.
public struct Command: Sendable, Equatable {
    /// One word, or two for administration: `history`, `peers add`.
    public var name: String
    /// What it does, in a few words without a full stop.
    public var summary: String
    /// The heading it stands under in the list of all commands.
    public var group: String
    /// The positional arguments, in order.
    public var arguments: [Argument]
    /// The options of this command alone; those of all commands are in ``CommandTable/globalOptions``.
    public var options: [Option]
    /// Invocations worth copying; the help text begins with them.
    public var examples: [Example]
    /// Anything longer, in paragraphs separated by an empty line.
    public var discussion: String

    /// Describes a command.
    public init(
        _ name: String, _ summary: String, group: String = "", arguments: [Argument] = [], options: [Option] = [],
        examples: [Example] = [], discussion: String = ""
    ) {
        self.name = name
        self.summary = summary
        self.group = group
        self.arguments = arguments
        self.options = options
        self.examples = examples
        self.discussion = discussion
    }

    /// A positional argument.
    public struct Argument: Sendable, Equatable {
        /// The name in the usage line and in ``ParsedArguments/positional(_:)``.
        public var name: String
        /// What to write there.
        public var help: String
        /// How many times it may stand.
        public var count: Count
        /// The values it may have; empty for any.
        public var allowed: [String]

        /// How many values an argument takes. Only the last argument of a command may take several.
        public enum Count: Sendable, Equatable {
            /// Exactly one.
            case required
            /// None or one.
            case optional
            /// At least the given number.
            case repeating(atLeast: Int)
        }

        /// Describes a positional argument.
        public init(_ name: String, _ help: String, count: Count = .required, allowed: [String] = []) {
            self.name = name
            self.help = help
            self.count = count
            self.allowed = allowed
        }
    }

    /// A named option: a flag, or a name with a value.
    public struct Option: Sendable, Equatable {
        /// The long name without dashes.
        public var name: String
        /// The one-letter name, if it has one.
        public var short: Character?
        /// What stands for the value in the help text; `nil` for a flag.
        public var placeholder: String?
        /// Whether it may be given more than once with different values.
        public var isRepeatable: Bool
        /// What it does, in one line.
        public var help: String
        /// The values it may have; empty for any.
        public var allowed: [String]

        /// An option that is either there or not.
        public static func flag(_ name: String, short: Character? = nil, _ help: String) -> Option {
            Option(name: name, short: short, placeholder: nil, isRepeatable: false, help: help, allowed: [])
        }

        /// An option with a value.
        public static func value(
            _ name: String, short: Character? = nil, _ placeholder: String, _ help: String,
            repeatable: Bool = false, allowed: [String] = []
        ) -> Option {
            Option(
                name: name, short: short, placeholder: placeholder, isRepeatable: repeatable, help: help,
                allowed: allowed)
        }
    }

    /// An invocation and what it shows.
    public struct Example: Sendable, Equatable {
        /// The whole command line.
        public var command: String
        /// What it shows.
        public var shows: String

        /// Describes an example.
        public init(_ command: String, _ shows: String) {
            self.command = command
            self.shows = shows
        }
    }
}
