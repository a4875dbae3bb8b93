internal import CSQLite

extension Connection {
    /// Steps of SQLite's machine between two looks at the clock: some tenths of a millisecond where pages are cached.
    private static let steps: Int32 = 2_000

    /// From now on what runs on this connection is interrupted when its ``term`` is over
    /// (<https://sqlite.org/c3ref/progress_handler.html>). To run once.
    func watchTerm() {
        // The handler runs within calls on this connection, which its caller keeps.
        sqlite3_progress_handler(
            handle, Self.steps,
            { context in
                guard let context else { return 0 }
                let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
                return connection.term?.isOver == true ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
