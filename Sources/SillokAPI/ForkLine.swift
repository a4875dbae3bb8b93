package import CommandLineKit
package import EventStore

extension JSONLine {
    /// A proven fork, as `/v1/forks` and `syncctl forks` tell it: the origin with two histories, the first event in which they differ, and how
    /// far its key has signed each of them.
    ///
    /// - Parameter own: Which of the histories is in the log here; `nil` if neither is.
    package init(_ fork: ForkEvidence, own: Int?) {
        self.init(type: "fork")
        add("name", fork.name)
        add("origin", fork.origin.description)
        add("sequence", fork.seq)
        // The stamp of a header that cannot be read is no time.
        add("at", fork.stamp < .max ? Timestamp.text(fork.stamp) : nil)
        addArray("branches") { array in
            for (index, branch) in fork.branches.enumerated() {
                array.addObject { line in
                    line.add("leaf", branch.mark(SHA256()).description)
                    line.add("signed", branch.head.head.size)
                    line.add("here", index == own)
                }
            }
        }
    }
}

extension LogReader {
    /// The forks that are proven in the folder of the log, by their names, each as a line.
    package func forkLines(_ files: StoreFiles) throws(StoreError) -> [(name: String, line: JSONLine)] {
        var lines: [(name: String, line: JSONLine)] = []
        for fork in try ForkEvidence.list(files) {
            lines.append((fork.name, JSONLine(fork, own: try fork.branch(in: self))))
        }
        return lines.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
