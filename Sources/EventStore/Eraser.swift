internal import Glibc

/// Applies the erasures that stand in the log (D14, D27; INV-11), one run after the other, resumed where a process ended. One run:
///
/// 1. The log is looked through. Payloads that this node's erasures cover are taken away, some in a commit, with how far that is.
/// 2. Views that had read any of them are built anew by who follows the log.
/// 3. What the files hold beside their rows goes: the WAL is emptied, slack overwritten, kept copies of damaged WALs removed.
///
/// ## Concurrency model
/// A thread of its own, which is not there while there is nothing to do; it reads on a connection of its own and has the writer write. Any
/// thread may call the functions.
package final class Eraser: Sendable, StoreFollower {
    private struct State {
        var isDue = false
        var confirms = false
        /// Whether the log was compared with what is said of its erasures, since a daemon has it open.
        var isReviewed = false
        /// Up to this position nothing has words of an erased event once more.
        var followed: UInt64 = 0
        /// When the last run ended.
        var lastRun: UInt64 = 0
        var isEnding = false
        var isWorking = false
        var lastError: StoreError?
    }

    /// Rows that are looked at in one read transaction, and payloads that go in one commit: some milliseconds each.
    private static let rows = 16_384
    private static let slice = 128
    /// Pages that are overwritten between two commits.
    private static let pages = 512
    /// How often to try again what a reader does not let be done.
    private static let pause: UInt64 = 200_000_000

    private let files: StoreFiles
    private let writer: LogWriter
    private let node: NodeID
    private let record: @Sendable ([EventDraft]) throws(StoreError) -> Void
    private let leaving: @Sendable ([AttachmentWant]) throws(StoreError) -> Void
    private let state = Monitor(State())
    private let thread = Lock<WorkerThread?>(nil)

    /// - Parameters:
    ///   - node: Whose erasures they are.
    ///   - record: Appends events of this node.
    ///   - leaving: Notes durably which attachments are named by payloads that are about to go.
    init(
        _ files: StoreFiles, _ writer: LogWriter, _ node: NodeID,
        record: @escaping @Sendable ([EventDraft]) throws(StoreError) -> Void,
        leaving: @escaping @Sendable ([AttachmentWant]) throws(StoreError) -> Void
    ) {
        self.files = files
        self.writer = writer
        self.node = node
        self.record = record
        self.leaving = leaving
        // Told directly by the writer: to ask the store for this would wait for a follower that waits for the writer.
        writer.onErasure.withLock { $0 = { [weak self] in self?.look() } }
        thread.withLock { $0 = WorkerThread(name: "eraser") { [self] in run() } }
    }

    /// Erasures may have come.
    func look() { state.wakeAll { $0.isDue = true } }

    /// From now on what other nodes have erased is confirmed by this one, and goes here, too.
    func confirmAll() {
        state.wakeAll { state in
            state.confirms = true
            state.isDue = true
        }
    }

    /// Waits until nothing is left to be done, or `goesOn` says no. Throws what kept it from being done.
    package func finish(_ goesOn: () -> Bool = { true }) throws(StoreError) {
        while goesOn() {
            let isDone = state.wait(milliseconds: 100) { state -> Result<Void, StoreError>? in
                if state.isEnding { return .failure(.closed) }
                if state.isDue || state.isWorking { return nil }
                return state.lastError.map { .failure($0) } ?? .success(())
            }
            if let isDone { return try isDone.get() }
        }
    }

    package func storeHasClosed() {
        state.wakeAll { $0.isEnding = true }
        thread.withLock { $0?.join() }
    }

    private var goesOn: Bool { state.withLock { !$0.isEnding } }

    private func run() {
        while true {
            let confirms: Bool? = state.wait { state -> Waiting<Bool?> in
                if state.isEnding { return .done(nil) }
                guard state.isDue else { return .forever }
                // What comes by and by is looked at together.
                let next = state.lastRun + Self.pause
                guard MonotonicClock.now >= next else { return .until(next) }
                state.isDue = false
                state.isWorking = true
                return .done(state.confirms)
            }
            guard let confirms else { return }
            var failure: StoreError?
            do throws(StoreError) {
                try recordLost()
                if confirms { try confirm() }
                try apply()
                // Last: damage of which it would end keeps no erasure from being applied.
                if confirms, try !reviewOnce() { try apply() }
                try follow()
            } catch { failure = error }
            state.wakeAll { state in
                state.isWorking = false
                state.lastRun = MonotonicClock.now
                state.lastError = failure
            }
            // A full disk, or a lock: once more, later.
            if let failure, failure.isRetriable, rest(5_000_000_000) { look() }
        }
    }

    /// Waits; false at the end.
    private func rest(_ nanoseconds: UInt64) -> Bool {
        let end = MonotonicClock.now + nanoseconds
        return state.wait { state -> Waiting<Bool> in
            if state.isEnding { return .done(false) }
            return MonotonicClock.now >= end ? .done(true) : .until(end)
        }
    }

    // MARK: Erasures of this node that a restored log does not have

    /// Records them once more: what they cover is gone, and the log has to say why (INV-11).
    private func recordLost() throws(StoreError) {
        guard access(files.laterErasures, F_OK) == 0 else { return }
        // A file that cannot be read stays, and 'verify' names it.
        guard let kept = (try? ProvenErasure.kept(files)) ?? nil else { return }
        let (reader, sha) = (try LogReader(files), SHA256())
        for lost in kept {
            guard let event = lost.event(of: node, using: sha), var erasure = Erasure(event),
                try reader.event(lost.dot) == nil
            else { continue }
            let header = event.header
            erasure.before = min(erasure.before ?? header.hlc, header.hlc)
            var draft = erasure.draft(user: header.user)
            draft.id = EventID(replyTo: header.id, by: "node/\(node)", label: "again \(header.dot)")
            if !header.author.hasSameBytes(as: draft.user) { draft.author = header.author }
            draft.cause = header.id
            try record([draft])
        }
        guard unlink(files.laterErasures) == 0 || errno == ENOENT else { throw .system(files.laterErasures) }
        try SmallFile.syncFolder(of: files.laterErasures)
    }

    // MARK: What another hand has done

    /// Looks through the log once in the life of a daemon. False where it is not as this node has left it: then its erasures are due again.
    private func reviewOnce() throws(StoreError) -> Bool {
        guard !state.withLock({ $0.isReviewed }) else { return true }
        TemporaryPlace.clear()
        let reader = try LogReader(files)
        let isSound = try reader.areErasuresSound(of: node, rows: Self.rows) { goesOn }
        if !isSound {
            try blocking { (completion: @escaping @Sendable (Result<Void, StoreError>) -> Void) in
                writer.submit([.reviseErasures(completion)])
            }
        }
        state.withLock { $0.isReviewed = true }
        return isSound
    }

    // MARK: Erasures of other nodes

    private func confirm() throws(StoreError) {
        let reader = try LogReader(files)
        let done = try reader.confirmedThrough()
        var last = done
        for found in try reader.erasures() where found.position > done {
            last = found.position
            guard found.node != node, let erasure = found.erasure, erasure.confirms == nil else { continue }
            let header = found.event.header
            var draft = erasure.confirming(header.dot, recorded: header.hlc).draft(user: header.user)
            draft.id = EventID(replyTo: header.id, by: "node/\(node)", label: "\(header.dot)")
            if !header.author.hasSameBytes(as: draft.user) { draft.author = header.author }
            draft.cause = header.id
            try record([draft])
        }
        if last > done { try remember([ErasureIndex.confirmed: String(last)]) }
    }

    private func remember(_ values: [String: String]) throws(StoreError) {
        try blocking { (completion: @escaping @Sendable (Result<Void, StoreError>) -> Void) in
            writer.submit([.remember(values, completion)])
        }
    }

    // MARK: This node's erasures

    private func apply() throws(StoreError) {
        let reader = try LogReader(files)
        while goesOn {
            guard let (erasures, goal) = try due(reader) else { return }
            try empty(erasures, through: goal, reader)
            guard goesOn else { return }
            try scrub(reader)
            TemporaryPlace.clear()
            guard goesOn else { return }
            try remember([ErasureIndex.erased: String(goal), ErasureIndex.erasing: ""])
            state.withLock { $0.followed = 0 }
        }
    }

    // MARK: The same words once more

    /// Erases what has the words of an erased event once more, by an erasure of its own: no vector of a plan could have it, and no rule of headers
    /// (INV-11).
    private func follow() throws(StoreError) {
        let reader = try LogReader(files)
        let erasures = Erasures(keeper: node, among: try reader.erasures())
        guard !erasures.isEmpty else { return }
        let top = try reader.top()
        var cursor = state.withLock { $0.followed }
        while cursor < top, goesOn {
            let found = try reader.wordsOfErased(erasures, after: cursor, through: top, rows: Self.rows)
            var dots = found.dots.sorted()
            while !dots.isEmpty {
                var erasure = Erasure(subject: nil)
                erasure.events = Array(dots.prefix(Erasure.mostEvents))
                dots.removeFirst(erasure.events.count)
                erasure.reason = "the same words as in erased events"
                erasure.who = "node/\(node)"
                try record([erasure.draft(user: "node/\(node)")])
            }
            cursor = found.cursor
            state.withLock { $0.followed = cursor }
        }
    }

    /// What is to be applied, and up to which erasure.
    private func due(_ reader: LogReader) throws(StoreError) -> (Erasures, UInt64)? {
        let done = try reader.erasedThrough()
        var erasures = Erasures(keeper: node)
        var goal = done
        for found in try reader.erasures() where found.node == node && found.position > done {
            erasures.take(found.event, of: node)
            goal = found.position
        }
        return goal > done ? (erasures, goal) : nil
    }

    /// Takes the payloads away.
    private func empty(_ erasures: Erasures, through goal: UInt64, _ reader: LogReader) throws(StoreError) {
        var progress = ErasureIndex.Progress(goal: goal)
        if let text = try reader.meta(ErasureIndex.erasing), let before = ErasureIndex.Progress(text: text) {
            // Of an earlier goal only whether views have to do with it still holds.
            if before.goal == goal { progress = before } else { progress.isOfViews = before.isOfViews }
        }
        // What came behind the erasure was stored without; but another hand may have put it back.
        let end = max(goal, try reader.top())
        while progress.cursor < end, goesOn {
            let (positions, cursor) = try reader.erasable(
                erasures, after: progress.cursor, through: end, rows: Self.rows, limit: Self.slice)
            progress.cursor = cursor
            guard !positions.isEmpty else { continue }
            // Once the payloads are gone no one knows what they named.
            try leaving(try reader.attachments(namedAt: positions))
            try erase(positions, &progress)
        }
        if goesOn { try erase([], &progress, isLast: true) }
    }

    private func erase(
        _ positions: [UInt64], _ progress: inout ErasureIndex.Progress, isLast: Bool = false
    ) throws(StoreError) {
        let slice = ErasureSlice(positions: positions, progress: progress, isLast: isLast)
        progress = try blocking {
            (completion: @escaping @Sendable (Result<ErasureIndex.Progress, StoreError>) -> Void) in
            writer.submit([.erase(slice, completion)])
        }
    }

    /// Overwrites what is left of it beside the rows.
    private func scrub(_ reader: LogReader) throws(StoreError) {
        try scrub([])
        let pages = try reader.slackPages { goesOn }
        for start in stride(from: 0, to: pages.count, by: Self.pages) {
            try scrub(Array(pages[start..<min(pages.count, start + Self.pages)]))
        }
        try CutEvidence.forgetWALs(files)
        try StrayJournals.forget(files)
    }

    private func scrub(_ pages: [Int64]) throws(StoreError) {
        while goesOn {
            let isDone = try blocking { writer.scrub(pages, completion: $0) }
            if isDone { return }
            // A reader of an old state: it sees the payloads still.
            guard rest(Self.pause) else { return }
        }
    }
}
