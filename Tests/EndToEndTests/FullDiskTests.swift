import Foundation
import TestSupport
import Testing

/// A file system of its own that is too small, where the machine lets its users mount one.
struct FullDiskTests {
    private static let unshare = "/usr/bin/unshare"
    /// Whether this user may mount in a namespace of its own.
    private static let mayMount: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: unshare)
        process.arguments = ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// What becomes of a store whose disk gets full under an import and has room again later. `$1` is the folder to mount on, `$2`
    /// where the programs are, `$3` a file of lines, `$4` what fills the disk, `$5` whether a daemon has the store.
    private static let story = """
        mount -t tmpfs -o size=110m none "$1" || exit 99
        export PATH="$2:$PATH" SYNCCTL_STORE="$1/store"
        head -c "$4" /dev/zero > "$1/filler"
        syncctl init --name small > "$1/out"; echo "init: $?"
        if [ "$5" = daemon ]; then
            syncd --dev "$1/store" --peer-listen 127.0.0.1:0 --log-level error & daemon=$!
            i=0; until syncctl status > "$1/out" 2>&1 || [ $i = 400 ]; do i=$((i + 1)); sleep 0.05; done
        fi
        syncctl import "$3" 2>&1 > "$1/out"; echo "full: $?"
        rm "$1/filler"
        i=0; until syncctl append --user u-1 --text later > "$1/out" || [ $i = 100 ]; do i=$((i + 1)); sleep 0.1; done 2> "$1/err"
        syncctl import "$3" 2>&1; echo "again: $?"
        if [ "$5" = daemon ]; then kill -9 $daemon; wait $daemon; fi 2> "$1/err"
        syncctl verify > "$1/out" 2>&1; echo "verify: $?"
        echo "stored: $(syncctl replay --all --json | grep -c '"text"')"
        """

    @Test(
        "A full disk is named, nothing that was stored is lost, and the same command goes on when there is room (INV-1)",
        .enabled(if: mayMount, "needs mounts in a namespace of one's own"),
        arguments: [
            ("alone", "102m", "the disk is full: database or disk is full (SQLite 13): COMMIT"),
            // A daemon refuses before that, with 3 MiB above its bound here: a quarter of what the lines take however its views lag.
            ("daemon", "43m", "MiB free, 64 MiB wanted"),
        ])
    func fullDisk(way: String, filler: String, reason: String) async throws {
        let folder = try TemporaryFolder.made()
        let lines = 12_000
        let text = String(repeating: "가득 찬 디스크 ", count: 40)
        let input = (0..<lines).map { number in
            #"{"id":"\#(UUID().uuidString.lowercased())","type":"message.posted","user":"u-\#(number % 50)","#
                + #""data":{"text":"\#(number) \#(text)"}}"#
        }
        try Data((input.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: folder.file("lines")))
        try FileManager.default.createDirectory(atPath: folder.file("disk"), withIntermediateDirectories: true)
        let programs = URL(filePath: try Tool.named("syncctl").path).deletingLastPathComponent().path
        let run = try await Tool(path: Self.unshare).run([
            "--user", "--map-root-user", "--mount", "sh", "-c", Self.story, "story", folder.file("disk"), programs,
            folder.file("lines"), filler, way,
        ])
        let told = run.lines
        #expect(told.contains("init: 0") && told.contains("full: 73"), "\(run.text)\(run.errors)")
        #expect(told.contains { $0.hasPrefix("syncctl: ") && $0.contains(reason) }, "\(run.text)")
        #expect(told.contains("again: 0"), "\(run.text)\(run.errors)")
        // What a killed daemon had not signed yet is not covered; nothing contradicts.
        let isProven = told.contains("verify: 0") || (way == "daemon" && told.contains("verify: 2"))
        #expect(isProven, "\(run.text)\(run.errors)")
        // The lines, and the one between the imports.
        #expect(told.contains("stored: \(lines + 1)"), "\(run.text)\(run.errors)")
        // What was told as appended is there; more may be, whose answers did not come.
        let appended = try #require(number(before: "appended,", in: told.first { $0.hasSuffix("goes on.") }))
        let there = try #require(
            number(before: "already", in: told.first { $0.hasSuffix("already there, 0 rejected") }))
        #expect(appended < lines && appended <= there, "\(run.text)")
    }

    private func number(before word: Substring, in line: String?) -> Int? {
        let words = line?.split(separator: " ") ?? []
        return words.firstIndex(of: word).flatMap { Int(words[$0 - 1]) }
    }
}
