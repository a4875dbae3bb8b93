internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// `export --evidence` and `import --evidence`: a log with all that proves it, in one file (FORMATS.md §8).
enum EvidenceTransfer {
    static func export(_ session: Session, origins: Set<OriginID>?) throws(CommandFailure) -> ExitCode {
        let location = try StoreLocation.find(for: session)
        let export = try stored { try EvidenceExport(location.files, origins: origins) }
        var progress = Progress("export", unit: "events", style: session.style())
        while let piece = try next(export) {
            try session.output.write(piece)
            progress.update(done: export.written, total: export.count)
        }
        progress.finish(done: export.written, total: export.count)
        if export.uncovered > 0 {
            session.remark(.evidenceLeftOut, session.counted(export.uncovered, .event))
        }
        return export.uncovered == 0 ? .success : .degraded
    }

    /// The next piece of the file; what is not as it was signed is no bad input but damage.
    private static func next(_ export: EvidenceExport) throws(CommandFailure) -> [UInt8]? {
        do throws(StoreError) { return try export.next() } catch {
            var failure = CommandFailure(error)
            if case .corrupt = error {
                failure.why = "The file ends before it, and is not whole."
                failure.exitCode = .integrityFailure
            }
            throw failure
        }
    }

    static func `import`(_ session: Session, _ input: InputFile) throws(CommandFailure) -> ExitCode {
        let location = try StoreLocation.find(for: session)
        guard try DaemonClient.running(location.files) == nil else {
            throw CommandFailure(
                code: "E_LOCKED", "a daemon has the store; evidence is taken in while it is stopped",
                hint: "stop syncd, import, start it again", exitCode: .tryAgain)
        }
        let store = try stored {
            try EventStore(opening: location.files.folder, owner: "syncctl pid \(getpid())")
        }
        defer {
            // Views that cannot be written now are caught up by the next reader.
            _ = try? Projector.catchUp(store.files, isIndexed: false)
            store.close()
        }
        let intake = try stored { try EvidenceImport(store) }
        var line = 0
        do throws(EvidenceError) {
            try read(session, input, into: intake, &line)
        } catch {
            // What is on its way is stored before its number is told.
            try? intake.settle()
            throw failure(error, line, intake)
        }
        try session.end(count: intake.appended + intake.already) { end in
            end.add("appended", intake.appended)
            end.add("already", intake.already)
            end.add("healed", intake.healed)
            end.add("lacking", intake.lacking.reduce(0) { $0 + $1.signed - $1.size })
            end.add("origins", intake.origins)
            end.add("interrupted", Interrupt.isRequested)
        }
        if !session.isJSON { try session.output.line(summary(intake, in: session.outputLanguage)) }
        guard Interrupt.isRequested else { return tell(intake.lacking, session) }
        session.remark(.evidenceStopped)
        return .interrupted
    }

    /// What a file lacks at its end no proof in it shows: the head alone knows how many events there are.
    private static func tell(
        _ lacking: [(origin: OriginID, size: UInt64, signed: UInt64)], _ session: Session
    ) -> ExitCode {
        for (origin, size, signed) in lacking {
            session.remark(.evidenceLacks, "\(origin)", String(size), String(signed), String(signed - size))
        }
        return lacking.isEmpty ? .success : .degraded
    }

    private static func read(
        _ session: Session, _ input: InputFile, into intake: EvidenceImport, _ number: inout Int
    ) throws(EvidenceError) {
        Interrupt.watch(reading: input.descriptor)
        var progress = Progress("import", unit: "events", style: session.style())
        // A payload that cannot be read may be longer than any line of native NDJSON.
        var reader = LineReader(descriptor: input.descriptor, longest: 2 << 20)
        while !Interrupt.isRequested, let line = try next(&reader), !Interrupt.isRequested {
            number = line.number
            guard case .text(let bytes, let range) = line.content else {
                throw .line("longer than any line of an evidence file")
            }
            do throws(EvidenceError) { try intake.take(bytes, range) } catch {
                // A last line that was cut off is no line at all.
                guard case .line = error, !intake.hasEnded, bytes[range].last != UInt8(ascii: "}"),
                    try next(&reader) == nil
                else {
                    throw error
                }
                throw .cut
            }
            progress.update(done: intake.appended + intake.already, total: intake.count)
        }
        progress.finish(done: intake.appended + intake.already, total: intake.count)
        if Interrupt.isRequested { try intake.settle() } else { try intake.finish() }
    }

    private static func next(_ reader: inout LineReader) throws(EvidenceError) -> Line? {
        do { return try reader.next() } catch { throw .store(.io("the input: \(error)")) }
    }

    private static func summary(_ intake: EvidenceImport, in language: Language) -> String {
        let taken = Wording.evidenceTaken.phrase.text(
            language,
            [
                CountedNoun.origin.text(intake.origins, in: language), String(intake.appended),
                String(intake.already),
            ])
        guard intake.healed > 0 else { return taken }
        let healed = CountedNoun.payload.text(intake.healed, in: language)
        return taken + Wording.evidenceHealed.phrase.text(language, [healed])
    }

    private static func failure(_ error: EvidenceError, _ line: Int, _ intake: EvidenceImport) -> CommandFailure {
        if case .store(let error) = error { return CommandFailure(error) }
        var failure = CommandFailure(
            code: error.code, "line \(line): \(error)",
            why: "Until then \(summary(intake, in: .english)); that is proven and stays.", exitCode: .badInput)
        switch error {
        case .other, .otherHead, .changed: failure.exitCode = .integrityFailure
        // After its first line it is an evidence file, and not as it was written.
        case .line where intake.count != nil: failure.exitCode = .integrityFailure
        case .refused(.amnesia):
            failure.hint = "start syncd beside a peer that has them: it fetches its own events back before it appends"
        case .refused: failure.exitCode = .integrityFailure
        default: break
        }
        return failure
    }
}
