internal import CommandLineKit
internal import SillokAPI

/// Prints results of appends and counts them.
struct AppendTally {
    private(set) var lines = 0
    private(set) var appended = 0
    private(set) var already = 0
    /// Of those, whose payload is gone.
    private(set) var erased = 0
    private(set) var rejected = 0
    /// First events of other stores' origins: history that is not ours to repeat.
    private(set) var passedOver = 0
    /// Lines that do not count where they were exported: another with the same id does.
    private(set) var twins = 0
    /// What lines name that has bytes of its own, which are no part of a line.
    private(set) var attachments = 0
    private var firstRejection: (code: String, message: String)?

    mutating func count(_ result: AppendedLine) {
        lines += 1
        switch result {
        case .appended: appended += 1
        case .already(let place):
            already += 1
            if place.isErased { erased += 1 }
        case .rejected(let code, let message):
            rejected += 1
            if firstRejection == nil { firstRejection = (code, message) }
        }
    }

    mutating func passOver() {
        lines += 1
        passedOver += 1
    }

    mutating func name(attachments count: Int) { attachments += count }

    mutating func passOverTwin() {
        lines += 1
        twins += 1
    }

    /// Counts a result and prints it: outcomes on stdout, rejections on stderr. `line` is `nil` for the event of the options.
    mutating func add(_ result: AppendedLine, line: Int?, _ session: Session) throws(CommandFailure) {
        count(result)
        if session.isJSON {
            try session.output.line(result.json(line: line ?? 1))
            return
        }
        switch result {
        case .appended(let place): try print(.appendedAt, place, session)
        case .already(let place):
            try print(.alreadyAt, place, session)
            if place.isErased { session.say(.alreadyErased) }
        case .rejected(let code, let message):
            try session.output.flush()
            Self.tell((code, message), line: line, session)
        }
    }

    /// Says why a line was not taken, as errors are told: in Korean what the code means stands above the text.
    static func tell(_ rejection: (code: String, message: String), line: Int?, _ session: Session) {
        let place = line.map { session.text(.lineNumber, String($0)) } ?? ""
        let meaning = session.language == .korean ? KoreanErrors.meanings[rejection.code] : nil
        let above = meaning.map { "\($0)\n  " } ?? ""
        Output.message("syncctl: \(place)\(above)\(Sanitizer.line(rejection.message))   [\(rejection.code)]\n")
    }

    private func print(_ told: Wording, _ place: AppendedLine.Place, _ session: Session) throws(CommandFailure) {
        let texts = place.texts
        try session.output.line(session.shown(told, "\(texts.position)", Sanitizer.line(texts.id)))
    }

    /// The final line of JSON output, and the exit code.
    func finish(_ session: Session) throws(CommandFailure) -> ExitCode {
        try session.end(count: lines) { line in
            line.add("appended", appended)
            line.add("already", already)
            line.add("rejected", rejected)
        }
        guard rejected > 0 else { return .success }
        let isConflict = ["E_ID_REUSED", "E_VERSION", "E_BEGUN"].contains(firstRejection?.code)
        return lines == 1 && !isConflict ? .badInput : .partlyDone
    }
}
