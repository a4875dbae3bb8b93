internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// The views of a store, always fresh (``EventReader``), and what the user is told until they are.
enum FreshViews {
    /// The views of the store the session is about.
    static func open(_ session: Session) throws(CommandFailure) -> ViewReader {
        try open(session, StoreLocation.find(for: session).files)
    }

    /// The views of the store in `files`.
    ///
    /// - Parameter isIndexed: As of ``EventReader/views(isIndexed:)``.
    static func open(
        _ session: Session, _ files: StoreFiles, isIndexed: Bool = false
    ) throws(CommandFailure) -> ViewReader {
        let voice = session.voice
        // What is missing is said also where remarks are not wanted.
        let warning = Voice(isQuiet: false, isJSON: session.isJSON)
        let (lacking, language) = (session.lacking, session.language)
        let style = session.isJSON ? ProgressMeter.Style.off : session.style()
        let applied = Lock((progress: Progress("views", unit: "events", style: style), last: UInt64(0)))
        let told = Freshness.Told(
            owner: "syncctl pid \(getpid())",
            progress: { done, total in
                applied.withLock { applied in
                    applied.last = done
                    applied.progress.update(done: done, total: total)
                }
            }, remark: voice.say,
            lacking: { count in
                lacking.withLock { $0 = max($0, count) }
                warning.say(Wording.viewsBehind.phrase.text(language, [String(count)]))
            })
        let views = try stored { try EventReader(Freshness(files, told)).views(isIndexed: isIndexed) }
        applied.withLock { $0.progress.finish(done: $0.last, total: nil) }
        return views
    }
}
