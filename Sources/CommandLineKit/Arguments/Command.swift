/// One command, described once: the parser, the help text and the completions are all made from this value.
package struct Command: Sendable, Equatable {
    /// One word, or two for administration: `history`, `peers add`.
    package var name: String
    /// What it does, in a few words without a full stop.
    package var summary: String
    /// The heading it stands under in the list of all commands.
    package var group: String
    /// The positional arguments, in order.
    package var arguments: [Argument]
    /// The options of this command alone; those of all commands are in ``CommandTable/globalOptions``.
    package var options: [Option]
    /// Invocations worth copying; the help text begins with them.
    package var examples: [Example]
    /// Anything longer, in paragraphs separated by an empty line.
    package var discussion: String

    /// Describes a command.
    package init(
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
    package struct Argument: Sendable, Equatable {
        /// The name in the usage line and in ``ParsedArguments/positional(_:)``.
        package var name: String
        /// What to write there.
        package var help: String
        /// How many times it may stand.
        package var count: Count
        /// The values it may have; empty for any.
        package var allowed: [String]
        /// What kind of names of the store it is, if shells may ask for them (``CommandTable/namesOption``).
        package var names: String?
        /// Whether `-word` behind the first one is a word, too, where its first letter is no option of the command.
        package var mayBeNegated: Bool

        /// How many values an argument takes. Only the last argument of a command may take several.
        package enum Count: Sendable, Equatable {
            /// Exactly one.
            case required
            /// None or one.
            case optional
            /// At least the given number.
            case repeating(atLeast: Int)
        }

        /// Describes a positional argument.
        package init(
            _ name: String, _ help: String, count: Count = .required, allowed: [String] = [], names: String? = nil,
            mayBeNegated: Bool = false
        ) {
            self.names = names
            self.mayBeNegated = mayBeNegated
            self.name = name
            self.help = help
            self.count = count
            self.allowed = allowed
        }
    }

    /// A named option: a flag, or a name with a value.
    package struct Option: Sendable, Equatable {
        /// The long name without dashes.
        package var name: String
        /// The one-letter name, if it has one.
        package var short: Character?
        /// What stands for the value in the help text; `nil` for a flag.
        package var placeholder: String?
        /// Whether it may be given more than once with different values.
        package var isRepeatable: Bool
        /// What it does, in one line.
        package var help: String
        /// The values it may have; empty for any.
        package var allowed: [String]
        /// As ``Argument/names``.
        package var names: String?

        /// An option that is either there or not.
        package static func flag(_ name: String, short: Character? = nil, _ help: String) -> Option {
            Option(name: name, short: short, placeholder: nil, isRepeatable: false, help: help, allowed: [])
        }

        /// An option with a value.
        package static func value(
            _ name: String, short: Character? = nil, _ placeholder: String, _ help: String,
            repeatable: Bool = false, allowed: [String] = [], names: String? = nil
        ) -> Option {
            Option(
                name: name, short: short, placeholder: placeholder, isRepeatable: repeatable, help: help,
                allowed: allowed, names: names)
        }
    }

    /// An invocation and what it shows.
    package struct Example: Sendable, Equatable {
        /// The whole command line.
        package var command: String
        /// What it shows.
        package var shows: String

        /// Describes an example.
        package init(_ command: String, _ shows: String) {
            self.command = command
            self.shows = shows
        }
    }
}
