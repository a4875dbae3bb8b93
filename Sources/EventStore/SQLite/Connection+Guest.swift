internal import CSQLite
internal import Glibc

extension Connection {
    /// How much longer than usual a WAL becomes before a transaction of ours on it ends, bytes.
    static let guestBytes = 64 << 20

    /// Runs `body`, which reads in one transaction for long, while others write. As long as it does, the WAL cannot begin anew: when that
    /// has become too long, or no one wants more of it (``term``), what runs is interrupted (<https://sqlite.org/c3ref/interrupt.html>), and
    /// this gives `nil`. What `body` has found until then is of no worth.
    ///
    /// - Parameter bytes: How much longer the WAL's file may become.
    func asGuest<Result>(
        bytes: Int = Connection.guestBytes, _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result? {
        let wal = path + "-wal"
        let most = max(Self.fileBytes(wal), Self.guestBytes / 2) + bytes
        let visit = Monitor(Visit())
        // SQLite lets any thread interrupt an open connection; this one stays open until the thread is joined.
        nonisolated(unsafe) let handle = handle
        let term = term
        let host = WorkerThread(name: "guest-host") {
            while visit.wait(milliseconds: 50, for: { $0.isOver ? true : nil }) == nil {
                guard Self.fileBytes(wal) > most || term?.isCancelled == true else { continue }
                visit.withLock { $0.isEnded = true }
                sqlite3_interrupt(handle)
            }
        }
        func leave() -> Bool {
            visit.wakeAll { $0.isOver = true }
            host.join()
            return visit.withLock { $0.isEnded }
        }
        do throws(DatabaseError) {
            let result = try body()
            return leave() ? nil : result
        } catch {
            if leave() { return nil }
            throw error
        }
    }

    private struct Visit {
        var isOver = false
        /// Whether it was not let come to its end.
        var isEnded = false
    }

    /// 0 where there is none.
    private static func fileBytes(_ path: String) -> Int {
        var entry = stat()
        return stat(path, &entry) == 0 ? Int(entry.st_size) : 0
    }
}
