internal import CommandLineKit
internal import EventStore

/// One fact for the daemon's log.
struct LogLine: Sendable, Equatable {
    /// What programs look for beside the text.
    enum Value: Sendable, Equatable {
        case text(String)
        case number(Int64)
    }

    struct Field: Sendable, Equatable {
        let name: String
        let value: Value

        init(_ name: String, _ text: String) { (self.name, value) = (name, .text(text)) }
        init(_ name: String, _ number: some BinaryInteger) {
            (self.name, value) = (name, .number(Int64(clamping: number)))
        }

        /// How long what is over has taken.
        static func duration(milliseconds: UInt64) -> Field { Field("duration_ms", milliseconds) }
    }

    let level: DaemonConfiguration.LogLevel
    /// What it is about: a word of capitals that stays (docs/operating/watching.md).
    let code: String
    let text: String
    var fields: [Field] = []

    /// The line as JSON, without a newline.
    func json(at time: Int64) -> String {
        var line = JSONLine()
        line.add("time", Timestamp.text(time))
        line.add("level", level.rawValue)
        line.add("code", code)
        line.add("message", text)
        if !fields.isEmpty {
            line.addObject("fields") { object in
                for field in fields {
                    switch field.value {
                    case .text(let text): object.add(field.name, text)
                    case .number(let number): object.add(field.name, number)
                    }
                }
            }
        }
        return line.text
    }

    /// How long something took, for people: in whole seconds.
    static func seconds(_ milliseconds: UInt64) -> String { "\((milliseconds + 500) / 1_000) s" }
}
