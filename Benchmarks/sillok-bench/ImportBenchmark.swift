internal import EventStore
internal import Glibc

/// `syncctl import` of a file into an empty store, from the start of the process to its end: log durable, views fresh.
enum ImportBenchmark {
    static func run(syncctl: String, _ folder: String, lines path: String) throws {
        try EventStore.create(in: folder, name: "bench")
        let files = StoreFiles(folder)
        let before = try LogReader(files).top()
        let elapsed = try nanoseconds {
            try spawn([syncctl, "--store", folder, "import", path])
        }
        let events = Int(try LogReader(files).top() - before)
        let written = try ViewReader(files).progress()
        guard written == before + UInt64(events) else { throw BenchmarkError("the views are not fresh") }
        report("3. syncctl import of ko_nsmc (events/s)", perSecond(events, elapsed))
    }

    /// Runs a program to its end, its output discarded.
    private static func spawn(_ words: [String]) throws(BenchmarkError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, words[0], &actions, nil, &arguments, environ)
        guard code == 0 else { throw BenchmarkError("\(words[0]): \(String(cString: strerror(code)))") }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw .system("waitpid") }
        }
        guard status == 0 else { throw BenchmarkError("\(words[0]) ended with status \(status)") }
    }
}
