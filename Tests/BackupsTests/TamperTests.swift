import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// FORMATS.md §11: whatever is changed in a repository is found and named.
struct TamperTests {
    private func archive(_ key: StreamKey?) throws -> Archive {
        let archive = try Archive()
        for _ in 0..<3 {
            try archive.append(40)
            try archive.create(key: key)
        }
        return archive
    }

    @Test(
        "A flipped bit anywhere in any file is found and the file named, and nothing of it is restored",
        arguments: [false, true])
    func flipped(isSealed: Bool) throws {
        let key = isSealed ? testKey : nil
        let archive = try archive(key)
        var random = SplitMix64(state: 480)
        for name in try archive.files(of: archive.repositoryPath) {
            let url = URL(filePath: "\(archive.repositoryPath)/\(name)")
            let good = try Data(contentsOf: url)
            for place in [0, 7, 8, 12, good.count / 2, good.count - 1]
                + (0..<12).map({ _ in Int.random(in: 0..<good.count, using: &random) })
            {
                var bad = good
                bad[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                try bad.write(to: url)
                let found = try? archive.check(key: key)
                let isNamed = found.map { report in report.findings.contains { "\($0)".contains(name) } } ?? true
                #expect(isNamed && found?.proven.count != 3, "\(name) at \(place): \(found?.findings ?? [])")
            }
            try good.write(to: url)
        }
        #expect(try archive.check(key: key).proven.count == 3)
        // A restore reads all of it, too.
        let last = try #require(try archive.files(of: archive.repositoryPath).last)
        let url = URL(filePath: "\(archive.repositoryPath)/\(last)")
        var bad = try Data(contentsOf: url)
        bad[bad.count / 2] ^= 4
        try bad.write(to: url)
        let error = failure { try archive.restore("r", key: key) }
        #expect(
            error != nil && !FileManager.default.fileExists(atPath: archive.folder.file("r")),
            "\(String(describing: error))")
        #expect(!FileManager.default.fileExists(atPath: archive.folder.file("r.restoring")))
    }

    @Test("A segment that is cut, gone, another's, or longer is named", arguments: [false, true])
    func segments(isSealed: Bool) throws {
        let key = isSealed ? testKey : nil
        let archive = try archive(key)
        let names = try archive.files(of: archive.repositoryPath).filter { $0.hasPrefix("segments/") }
        let urls = names.map { URL(filePath: "\(archive.repositoryPath)/\($0)") }
        let good = try Data(contentsOf: urls[1])
        let changes: [(Data?, String)] = [
            (nil, "gone"), (Data(), "empty"), (good.dropLast(4), "cut"), (good.prefix(8), "head"),
            (good + Data([0, 0, 0, 0]), "longer"),
            (try Data(contentsOf: urls[0]), "another's"),
        ]
        for (bytes, what) in changes {
            if let bytes {
                try Data(bytes).write(to: urls[1])
            } else {
                try FileManager.default.removeItem(at: urls[1])
            }
            let report = try archive.check(key: key)
            #expect(report.findings.contains { "\($0)".contains(names[1]) }, "\(what): \(report.findings)")
            // The first does not need it.
            #expect(report.proven.count == 1 && report.broken.count == 2, "\(what)")
            #expect(failure { try archive.restore("r", key: key) } != nil)
        }
        try good.write(to: urls[1])
        #expect(try archive.check(key: key).proven.count == 3)
    }

    @Test("A manifest under another's name, and one whose figures were changed with its digest, are refused")
    func manifests() throws {
        let archive = try archive(nil)
        let names = try archive.files(of: archive.repositoryPath).filter { $0.hasPrefix("backups/") }
        let urls = names.map { URL(filePath: "\(archive.repositoryPath)/\($0)") }
        let good = try Data(contentsOf: urls[2])
        try Data(contentsOf: urls[0]).write(to: urls[2])
        #expect(try archive.check().findings.contains { "\($0)".contains(names[2]) })
        // Who can write the folder makes the digest anew: the node's signature does not fit then, and without one the rows do not.
        var text = String(decoding: good, as: UTF8.self).split(separator: "\n").map(String.init)
        for isSigned in [true, false] {
            let body =
                text.dropLast().joined(separator: "\n").replacingOccurrences(
                    of: #""name":"seoul""#, with: #""name":"busan""#) + "\n"
            let digest = SHA256().digest(Array(body.utf8))
            let old = try #require(text.last)
            let signature = isSigned ? String(old[(try #require(old.range(of: #","signature"#))).lowerBound...]) : "}"
            try Data((body + #"{"type":"end","v":1,"sha256":"\#(digest)""# + signature + "\n").utf8).write(
                to: urls[2])
            let report = try archive.check()
            // The first event of its own origin has the node's name.
            #expect(report.findings.contains { "\($0)".contains(names[2]) }, "\(report.findings)")
            #expect(report.proven.count == 2 && report.unsigned.isEmpty)
        }
        text.removeAll()
        let manifest = try BackupManifest(Array(good))
        var changed = manifest
        changed.position -= 1
        #expect(throws: InvalidManifest.self) { try BackupManifest(changed.bytes(signedWith: nil)) }
        changed = manifest
        changed.segments[1].file = "../../evil"
        #expect(throws: InvalidManifest.self) { try BackupManifest(changed.bytes(signedWith: nil)) }
        changed = manifest
        changed.origins = []
        #expect(throws: InvalidManifest.self) { try BackupManifest(changed.bytes(signedWith: nil)) }
        for count in stride(from: 0, to: good.count - 1, by: 97) {
            #expect(throws: InvalidManifest.self) { try BackupManifest(Array(good.prefix(count))) }
        }
    }

    @Test(
        "Of a manifest that its node has not signed no key and no peer is put back: anyone could have made it (INV-19)"
    )
    func unsigned() throws {
        let archive = try archive(nil)
        let manifest = try archive.repository().backup(nil)
        let path = try #require(try archive.files(of: archive.repositoryPath).last { $0.contains(manifest.id) })
        for isSigned in [true, false] {
            let name = isSigned ? "signed" : "unsigned"
            var made = manifest
            made.files.append(BackupManifest.Part(name: "peers.json", value: Array("[]".utf8)))
            let key = SigningKey(pem: Array(try Data(contentsOf: URL(filePath: archive.files.key))))
            try Data(made.bytes(signedWith: isSigned ? key : nil)).write(
                to: URL(filePath: "\(archive.repositoryPath)/\(path)"))
            let restore = try BackupRestore(into: archive.folder.file(name), withKey: true) { _, _ in true }
            let report = try restore.run(archive.repository().backup(manifest.id), of: archive.repository())
            #expect(report.unproven == (isSigned ? [] : ["node.key", "peers.json"]) && report.hasKey == isSigned)
            for file in ["node.key", "peers.json"] {
                #expect(
                    FileManager.default.fileExists(atPath: archive.folder.file("\(name)/\(file)")) == isSigned,
                    "\(file)")
            }
        }
    }

    @Test("Rows of another log under a manifest's segment do not prove themselves, though every digest was made anew")
    func otherRows() throws {
        let archive = try archive(nil)
        var manifest = try archive.repository().backup(nil)
        let key = try #require(SigningKey(pem: Array(try Data(contentsOf: URL(filePath: archive.files.key)))))
        // The last segment, written again with the second one's rows: digest, size and leaves fit the file.
        manifest.segments[2].file = manifest.segments[1].file
        manifest.segments[2].bytes = manifest.segments[1].bytes
        manifest.segments[2].digest = manifest.segments[1].digest
        try archive.repository(.writing).write(manifest, signedWith: key)
        let report = try archive.check()
        #expect(report.proven.count == 2 && report.broken == [manifest.id], "\(report.findings)")
        #expect(failure { try archive.restore("r") } != nil)
    }

    @Test("What a signed manifest says of its segments' rows holds for a restore as it does for a check (INV-4)")
    func otherLeaves() throws {
        let archive = try archive(nil)
        let whole = try archive.repository().backup(nil)
        let key = try #require(SigningKey(pem: Array(try Data(contentsOf: URL(filePath: archive.files.key)))))
        try archive.restore("whole")
        for isHoles in [false, true] {
            var manifest = whole
            let segment = whole.segments[1]
            manifest.segments[1] = BackupManifest.Segment(
                file: segment.file, after: segment.after, last: segment.last, bytes: segment.bytes,
                digest: segment.digest, leaves: isHoles ? segment.leaves : .zero, erasures: segment.erasures,
                holes: isHoles ? Holes(count: 1, digest: .zero) : segment.holes)
            try archive.repository(.writing).write(manifest, signedWith: key)
            #expect(try archive.check(whole.id).broken == [whole.id])
            let refusal = failure { try archive.restore("r") }
            #expect(refusal?.code == "E_BACKUP_DAMAGED", "\(String(describing: refusal))")
        }
    }

    @Test("A backup whose manifest is gone leaves rows that no backup names: that is told")
    func manifestGone() throws {
        let archive = try archive(nil)
        #expect(try archive.check().unnamed == 0)
        let newest = try archive.repository().backup(nil)
        try FileManager.default.removeItem(atPath: "\(archive.repositoryPath)/backups/\(newest.id).manifest")
        let report = try archive.check()
        #expect(report.findings.isEmpty && report.unnamed == 1, "\(report.leftovers)")
    }

    @Test("With no key, another key, and a key for what is not encrypted it says so")
    func keys() throws {
        let archive = try archive(testKey)
        #expect(
            failure { _ = try archive.check() }
                == .key(file: try archive.files(of: archive.repositoryPath)[0], isGiven: false))
        #expect(failure { _ = try archive.check(key: otherKey) }?.code == "E_BACKUP_KEY")
        #expect(failure { try archive.create(key: otherKey) }?.code == "E_BACKUP_KEY")
        let plain = try self.archive(nil)
        #expect(failure { _ = try plain.restore("r", key: testKey) }?.code == "E_BACKUP_DAMAGED")
        // No word of it stands in the files.
        let words = try plain.files(of: plain.repositoryPath) + archive.files(of: archive.repositoryPath)
        #expect(!words.isEmpty && ByteScan.find(["seoul"], in: [archive.repositoryPath]).isEmpty)
        #expect(!ByteScan.find(["seoul"], in: [plain.repositoryPath]).isEmpty)
    }

    @Test("Chunks of a sealed file that are cut, left out, moved or another file's do not open")
    func chunks() throws {
        func file(_ name: String, _ chunks: [[UInt8]]) throws -> [[UInt8]] {
            let out = MemoryBytes()
            let writer = try ChunkWriter(out, name: name, key: testKey)
            for chunk in chunks { try writer.add(chunk) }
            _ = try writer.finish()
            // Magic and header, then each chunk with its length.
            var parts = [Array(out.bytes[..<32])]
            var start = 32
            while start < out.bytes.count {
                let count = 4 + out.bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
                parts.append(Array(out.bytes[start..<start + count]))
                start += count
            }
            return parts
        }
        func read(_ parts: [[UInt8]], _ name: String = "segments/a") throws -> [[UInt8]] {
            let reader = try ChunkReader(MemoryBytes(parts.flatMap { $0 }), name: name, key: testKey)
            var chunks: [[UInt8]] = []
            while let chunk = try reader.next() { chunks.append(chunk) }
            return chunks
        }
        let chunks = (1...4).map { [UInt8](repeating: UInt8($0), count: $0 * 100) }
        let good = try file("segments/a", chunks)
        let other = try file("segments/a", chunks)
        #expect(try read(good) == chunks)
        #expect(failure { _ = try read(good, "segments/b") }?.code == "E_BACKUP_KEY")
        #expect(failure { _ = try read(Array(good.dropLast())) }?.code == "E_BACKUP_DAMAGED")
        #expect(failure { _ = try read(good + [good[2]]) }?.code == "E_BACKUP_DAMAGED")
        var swapped = good
        swapped.swapAt(2, 3)
        #expect(failure { _ = try read(swapped) }?.code == "E_BACKUP_DAMAGED")
        var without = good
        without.remove(at: 2)
        #expect(failure { _ = try read(without) }?.code == "E_BACKUP_DAMAGED")
        var mixed = good
        mixed[2] = other[2]
        #expect(failure { _ = try read(mixed) }?.code == "E_BACKUP_DAMAGED")
        var twice = good
        twice.insert(good[2], at: 2)
        #expect(failure { _ = try read(twice) }?.code == "E_BACKUP_DAMAGED")
        #expect(failure { _ = try read([good[0], [0xff, 0xff, 0xff, 0xff]]) }?.code == "E_BACKUP_DAMAGED")
    }
}
