import Testing

@testable import EventStore

struct JobPoolTests {
    @Test("Everything is done, also what is added later and what nobody has a thread for", arguments: [0, 1, 3])
    func all(threads: Int) throws {
        let done = Lock<Set<Int>>([])
        let job = { (number: Int) -> SnapshotJob in
            { () throws(DatabaseError) in done.withLock { _ = $0.insert(number) } }
        }
        let jobs = JobPool((0..<20).map(job), threads: threads)
        jobs.add((20..<40).map(job))
        try jobs.finish()
        #expect(done.withLock { $0 } == Set(0..<40))
    }

    @Test("What was added last is begun first")
    func order() throws {
        let done = Lock<[Int]>([])
        let job = { (number: Int) -> SnapshotJob in
            { () throws(DatabaseError) in done.withLock { $0.append(number) } }
        }
        let jobs = JobPool([job(0), job(1)], threads: 0)
        jobs.add([job(2), job(3)])
        try jobs.finish()
        #expect(done.withLock { $0 } == [3, 2, 1, 0])
    }

    @Test("The first error ends it: what was not begun is not done", arguments: [0, 2])
    func failure(threads: Int) throws {
        let done = Lock(0)
        let good: SnapshotJob = { () throws(DatabaseError) in done.withLock { $0 += 1 } }
        let bad: SnapshotJob = { () throws(DatabaseError) in
            throw .file(.diskFull("test"))
        }
        let jobs = JobPool<DatabaseError>([], threads: threads)
        jobs.add([bad])
        let error = #expect(throws: DatabaseError.self) { try jobs.finish() }
        #expect(error == .file(.diskFull("test")))
        jobs.add([good])
        #expect(done.withLock { $0 } == 0)
    }

    @Test("Whoever drops it waits for the jobs that were begun")
    func dropped() {
        let done = Lock((begun: 0, ended: 0))
        let job: SnapshotJob = { () throws(DatabaseError) in
            done.withLock { $0.begun += 1 }
            sleepMilliseconds(5)
            done.withLock { $0.ended += 1 }
        }
        do { _ = JobPool([job, job, job, job], threads: 2) }
        done.withLock { #expect($0.begun == $0.ended) }
    }
}
