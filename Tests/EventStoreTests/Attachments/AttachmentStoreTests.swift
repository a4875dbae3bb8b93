import Foundation
import TestSupport
import Testing

@testable import EventStore

/// The bytes of attachments in the store's folder: whole under their name or not at all, never other ones, never more than once in memory.
struct AttachmentStoreTests {
    private let folder: TemporaryFolder
    private let files: StoreFiles
    private let attachments: AttachmentStore

    init() throws {
        folder = try TemporaryFolder.made()
        files = StoreFiles(folder.path)
        attachments = try AttachmentStore(files)
    }

    private func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SplitMix64(state: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    @discardableResult
    private func put(
        _ bytes: [UInt8], stated: Digest? = nil, limit: UInt64 = .max
    ) throws(AttachmentError) -> (digest: Digest, isNew: Bool) {
        let writer: AttachmentWriter
        do throws(StoreError) { writer = try attachments.begin(limit: limit) } catch { throw .store(error) }
        for start in stride(from: 0, to: bytes.count, by: 1_000) {
            try writer.write(bytes[start..<min(bytes.count, start + 1_000)])
        }
        return try attachments.finish(writer, stated: stated)
    }

    private func read(_ digest: Digest, piece: Int = 700) throws -> [UInt8] {
        let reader = try attachments.open(digest)
        var out: [UInt8] = []
        while out.count < Int(reader.count) { out += try reader.read(at: UInt64(out.count), most: piece) }
        return out
    }

    /// Names of files below the folder, without the index.
    private func names() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: files.attachments).filter {
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: files.attachments + "/" + $0, isDirectory: &isFolder)
            return isThere && !isFolder.boolValue && !$0.hasPrefix("index.db")
        }
    }

    @Test(
        "Bytes of any length come back as they were put, under the SHA-256 that sha256sum gives",
        arguments: [0, 1, 999, 70_001])
    func roundTrip(count: Int) throws {
        let bytes = bytes(count)
        let (digest, isNew) = try put(bytes)
        #expect(digest == SHA256().digest(bytes) && isNew)
        #expect(try read(digest) == bytes)
        let name = digest.description
        #expect(try names() == ["\(name.prefix(2))/\(name)"])
        let again = try put(bytes)
        #expect(again.digest == digest && !again.isNew)
        #expect(try attachments.figures()[.unnamed] == AttachmentFigures(blobs: 1, bytes: UInt64(count)))
    }

    @Test("Only the owner may read the files, and look into their folders")
    func rights() throws {
        let digest = try put(bytes(10)).digest
        for path in [files.attachments, files.attachments + "/incoming"] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o700, "\(path)")
        }
        let path = attachments.folder.blob(digest)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test("Other bytes than were stated, or more than may be, leave nothing")
    func refused() throws {
        let stated = SHA256().digest(bytes(5, seed: 9))
        #expect(throws: AttachmentError.otherDigest(stated: stated, found: SHA256().digest(bytes(5)))) {
            try put(bytes(5), stated: stated)
        }
        #expect(throws: AttachmentError.tooLarge(limit: 4_999)) { try put(bytes(5_000), limit: 4_999) }
        #expect(try put(bytes(5_000), limit: 5_000).isNew)
        #expect(try names().count == 1)
    }

    @Test("What a crash has left under another name is swept at the next opening, what a peer has begun stays")
    func leftovers() throws {
        let writer = try attachments.begin(limit: .max)
        try writer.write(bytes(100)[...])
        let part = attachments.folder.part(SHA256().digest([1]))
        try Data([1, 2]).write(to: URL(filePath: part))
        #expect(try names().count == 2)
        _ = try AttachmentStore(files)
        #expect(try names() == ["incoming/" + URL(filePath: part).lastPathComponent])
        withExtendedLifetime(writer) {}
    }

    @Test("A changed byte is noticed by the first reader, the file is put aside, and the right bytes heal it")
    func damage() throws {
        let bytes = bytes(300_000)
        let digest = try put(bytes).digest
        try attachments.named([AttachmentWant(digest: digest, bytes: 300_000)], through: 1, of: "log")
        #expect(try attachments.standing(of: digest)?.state == .present)
        let path = attachments.folder.blob(digest)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: 299_999)
        file.write(Data([bytes[299_999] ^ 1]))
        try file.close()
        #expect(throws: AttachmentError.damaged(digest)) { try attachments.open(digest) }
        #expect(try attachments.standing(of: digest)?.state == .damaged)
        #expect(throws: AttachmentError.damaged(digest)) { try attachments.open(digest) }
        #expect(try attachments.all(.damaged, limit: 9) == [AttachmentWant(digest: digest, bytes: 300_000)])
        // Piece by piece, as from a peer.
        let outcome = try attachments.keep(digest, at: 0, Array(bytes[..<200_000]), total: 300_000, limit: 1 << 20)
        #expect(outcome == .more(200_000))
        #expect(
            try attachments.keep(digest, at: 200_000, Array(bytes[200_000...]), total: 300_000, limit: 1 << 20)
                == .whole)
        #expect(try read(digest) == bytes)
        #expect(try attachments.figures()[.damaged]?.blobs == 0 && attachments.figures()[.present]?.blobs == 1)
        #expect(!FileManager.default.fileExists(atPath: attachments.folder.damaged(digest)))
    }

    @Test(
        "A link in the position of a file is put aside as damage is, healed by a peer, and gone with an erasure (INV-11)"
    )
    func link() throws {
        let bytes = bytes(5_000)
        let want = AttachmentWant(digest: try put(bytes).digest, bytes: 5_000)
        let digest = want.digest
        try attachments.named([want], through: 1, of: "log")
        let (path, aside) = (attachments.folder.blob(digest), attachments.folder.damaged(digest))
        let target = files.attachments + "/elsewhere"
        try Data(bytes).write(to: URL(filePath: target))
        func replace() throws {
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        }
        try replace()
        #expect(try AttachmentCopy(files).verify().damaged == [digest])
        for _ in 0..<2 { #expect(throws: AttachmentError.damaged(digest)) { try attachments.open(digest) } }
        #expect(try attachments.standing(of: digest)?.state == .damaged)
        #expect(try attachments.keep(digest, at: 0, bytes, total: 5_000, limit: 1 << 20) == .whole)
        #expect(try read(digest) == bytes && !AttachmentFolder.stands(aside))
        try replace()
        // A peer that asks for it finds it, too.
        #expect(throws: AttachmentError.damaged(digest)) { try attachments.piece(digest, at: 0, most: 100) }
        try attachments.leaving([want])
        #expect(try attachments.settle(want, isNamed: false))
        #expect(!AttachmentFolder.stands(path) && !AttachmentFolder.stands(aside))
        #expect(try Data(contentsOf: URL(filePath: target)) == Data(bytes), "what it leads to is none of ours")
    }

    @Test("Damage behind the first reading is noticed by who reads all, before the last byte goes out")
    func lateDamage() throws {
        let bytes = bytes(100_000)
        let digest = try put(bytes).digest
        let reader = try attachments.open(digest)
        let file = try #require(FileHandle(forUpdatingAtPath: attachments.folder.blob(digest)))
        file.write(Data([bytes[0] ^ 1]))
        try file.close()
        var offset: UInt64 = 0
        #expect(throws: AttachmentError.damaged(digest)) {
            while offset < reader.count { offset += UInt64(try reader.read(at: offset, most: 30_000).count) }
        }
        #expect(offset == 90_000)
    }

    @Test("Pieces of a peer that lies are thrown away, and so is what no event needs")
    func pieces() throws {
        let bytes = bytes(5_000)
        let digest = SHA256().digest(bytes)
        #expect(try attachments.keep(digest, at: 0, bytes, total: 5_000, limit: 9_000) == .unwanted)
        try attachments.named([AttachmentWant(digest: digest, bytes: 5_000)], through: 1, of: "log")
        var lie = bytes
        lie[4_999] ^= 1
        #expect(try attachments.keep(digest, at: 0, lie, total: 5_000, limit: 9_000) == .wrong)
        #expect(try attachments.partCount(digest) == 0)
        #expect(try attachments.keep(digest, at: 0, bytes, total: 9_001, limit: 9_000) == .tooLarge)
        #expect(try attachments.keep(digest, at: 1, bytes, total: 5_000, limit: 9_000) == .wrong)
        #expect(try attachments.keep(digest, at: .max, bytes, total: .max, limit: .max) == .wrong)
        #expect(try attachments.keep(digest, at: 0, Array(bytes[..<10]), total: 5_000, limit: 9_000) == .more(10))
        // A piece that comes twice, and one beyond a gap.
        #expect(try attachments.keep(digest, at: 0, Array(bytes[..<10]), total: 5_000, limit: 9_000) == .more(10))
        #expect(try attachments.keep(digest, at: 20, Array(bytes[20...]), total: 5_000, limit: 9_000) == .more(10))
        // After a new start it goes on where it was.
        let again = try AttachmentStore(files)
        #expect(try again.partCount(digest) == 10)
        #expect(try again.keep(digest, at: 10, Array(bytes[10...]), total: 5_000, limit: 9_000) == .whole)
        #expect(try names() == ["\(digest.description.prefix(2))/\(digest)"])
    }

    @Test(
        "What is erased goes with its zeros, unless an event names it still; and a peer's bytes of it are not taken (INV-11)"
    )
    func settled() throws {
        let (first, second) = (bytes(2_000, seed: 3), bytes(3_000, seed: 4))
        let wants = try [first, second].map { bytes in
            AttachmentWant(digest: try put(bytes).digest, bytes: UInt64(bytes.count))
        }
        try attachments.named(wants, through: 7, of: "log")
        #expect(try attachments.place(of: "log") == 7 && attachments.place(of: "other") == 0)
        try attachments.leaving(wants)
        #expect(try attachments.all(.leaving, limit: 9).count == 2)
        // A hand that keeps the file open sees that its bytes are gone.
        let open = try #require(FileHandle(forReadingAtPath: attachments.folder.blob(wants[0].digest)))
        #expect(try attachments.settle(wants[0], isNamed: false))
        #expect(try open.readToEnd() == Data(count: 2_000))
        #expect(try !attachments.settle(wants[1], isNamed: true))
        #expect(try read(wants[1].digest) == second)
        #expect(try attachments.standing(of: wants[0].digest) == nil)
        #expect(throws: AttachmentError.missing(wants[0].digest)) { try attachments.open(wants[0].digest) }
        #expect(try attachments.keep(wants[0].digest, at: 0, first, total: 2_000, limit: 9_000) == .unwanted)
        #expect(try names().count == 1)
    }

    @Test(
        "What a process left whole, but without its name, gets it at the next start; other bytes begin anew (INV-12)")
    func resumed() throws {
        let bytes = bytes(5_000)
        let digest = SHA256().digest(bytes)
        // What an event says of their number need not be true.
        try attachments.named([AttachmentWant(digest: digest, bytes: 3)], through: 1, of: "log")
        #expect(try attachments.resume(digest) == 0)
        #expect(try attachments.keep(digest, at: 0, Array(bytes[..<10]), total: 5_000, limit: 9_000) == .more(10))
        #expect(try attachments.resume(digest) == 9)
        #expect(try attachments.keep(digest, at: 9, Array(bytes[9..<20]), total: 5_000, limit: 9_000) == .more(20))
        // Killed behind the last byte and before the name.
        let part = attachments.folder.part(digest)
        try Data(bytes.dropLast() + [bytes[4_999] ^ 1]).write(to: URL(filePath: part))
        let last = try attachments.resume(digest)
        #expect(last == 4_999)
        let rest = Array(bytes[4_999...])
        #expect(
            try attachments.keep(digest, at: last, rest, total: 5_000, limit: 9_000) == .whole, "it was mended by it")
        try FileManager.default.removeItem(atPath: attachments.folder.blob(digest))
        try attachments.note(missing: digest)
        try Data([bytes[0] ^ 1] + bytes.dropFirst()).write(to: URL(filePath: part))
        #expect(try attachments.keep(digest, at: last, rest, total: 5_000, limit: 9_000) == .wrong)
        #expect(!FileManager.default.fileExists(atPath: part))
        #expect(try attachments.resume(digest) == 0)
        try Data(bytes).write(to: URL(filePath: part))
        let again = try AttachmentStore(files)
        #expect(try again.resume(digest) == 4_999)
        #expect(try again.keep(digest, at: 4_999, rest, total: 5_000, limit: 9_000) == .whole)
        #expect(try again.standing(of: digest)?.state == .present)
        #expect(try read(digest) == bytes)
    }

    @Test("The SHA-256 of what was erased is in no file of the folder (INV-11)")
    func forgotten() throws {
        let wants = try (0..<30).map { number in
            AttachmentWant(digest: try put(bytes(2_000, seed: UInt64(number) + 50)).digest, bytes: 2_000)
        }
        try attachments.named(wants, through: 1, of: "log")
        try attachments.leaving(wants)
        for want in wants { #expect(try attachments.settle(want, isNamed: false)) }
        for suffix in ["", "-wal"] {
            let raw = (try? Data(contentsOf: URL(filePath: attachments.folder.index + suffix))) ?? Data()
            for want in wants { #expect(raw.range(of: Data(want.digest.bytes)) == nil, "index.db\(suffix)") }
        }
    }

    @Test("Bytes that no event names go after their time, and those that one names after all stay")
    func unnamed() throws {
        let digests = try (1...3).map { try put(bytes(10, seed: $0)).digest }
        try attachments.dropUnnamed(before: 0) { _ in false }
        #expect(try names().count == 3)
        try attachments.dropUnnamed(before: .max) { $0 == digests[1] }
        #expect(try names().count == 1 && attachments.standing(of: digests[1])?.state == .present)
    }

    @Test(
        "A file of which nothing is known, as one that a hand has put back, goes as what was put and never named (INV-11)"
    )
    func strays() throws {
        let (erased, kept) = (bytes(10, seed: 1), bytes(10, seed: 2))
        let wants = try [erased, kept].map { AttachmentWant(digest: try put($0).digest, bytes: 10) }
        try attachments.named(wants, through: 1, of: "log")
        try attachments.leaving(wants)
        for (want, bytes) in zip(wants, [erased, kept]) {
            #expect(try attachments.settle(want, isNamed: false))
            try Data(bytes).write(to: URL(filePath: attachments.folder.blob(want.digest)))
        }
        try attachments.noteStrays { $0 == wants[1].digest }
        #expect(try attachments.standing(of: wants[0].digest)?.state == .unnamed)
        #expect(try attachments.standing(of: wants[1].digest)?.state == .present)
        try attachments.dropUnnamed(before: .max) { _ in false }
        #expect(try names().map { $0.suffix(64) } == [wants[1].digest.description.suffix(64)])
    }

    @Test(
        "A file that is gone is missing, for who reads beside the owner at once; one that is there again is present")
    func lost() throws {
        let digests = try (1...3).map { try put(bytes(10, seed: $0)).digest }
        let wants = digests.map { AttachmentWant(digest: $0, bytes: 10) }
        try attachments.named(wants, through: 1, of: "log")
        let path = attachments.folder.blob(digests[1])
        try FileManager.default.removeItem(atPath: path)
        let copy = try AttachmentCopy(files)
        #expect(try copy.state(of: digests[1]) == .missing && copy.state(of: digests[0]) == .present)
        #expect(try copy.all(.missing, limit: 9) == [wants[1]])
        #expect(try copy.figures()[.missing] == AttachmentFigures(blobs: 1, bytes: 10))
        #expect(try copy.figures()[.present] == AttachmentFigures(blobs: 2, bytes: 20))
        #expect(try attachments.standing(of: digests[1])?.state == .missing)
        #expect(try attachments.all(.missing, limit: 9).isEmpty)
        try attachments.noteLost()
        #expect(attachments.takeLost() == 1 && attachments.takeLost() == 0)
        #expect(try attachments.all(.missing, limit: 9) == [wants[1]])
        try Data(bytes(10, seed: 2)).write(to: URL(filePath: path))
        #expect(try copy.all(.missing, limit: 9).isEmpty)
        try attachments.noteLost()
        #expect(try attachments.takeLost() == 0 && attachments.all(.missing, limit: 9).isEmpty)
        #expect(try attachments.figures()[.present] == AttachmentFigures(blobs: 3, bytes: 30))
    }

    @Test("A check of all files names the damaged one, and reads the others whole")
    func verified() throws {
        let digests = try (1...4).map { try put(bytes(1_000, seed: $0)).digest }
        try Data([1]).write(to: URL(filePath: attachments.folder.blob(digests[2])))
        let report = try AttachmentCopy(files).verify()
        #expect(report.damaged == [digests[2]] && report.damagedCount == 1 && report.blobs == 4)
        #expect(report.bytes >= 3_000)
    }

    @Test("Whatever stands where a file should be is refused, and not read")
    func strange() throws {
        let digest = try put(bytes(10)).digest
        let path = attachments.folder.blob(digest)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/hostname")
        #expect(throws: AttachmentError.self) { try attachments.open(digest) }
        mkfifo(path, 0o600)
        #expect(throws: AttachmentError.self) { try attachments.open(digest) }
    }
}

/// What bytes are, by the first of them.
struct MediaTypeTests {
    @Test(
        "Known signatures are told, whatever the name says",
        arguments: [
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "image/png"),
            ([0xff, 0xd8, 0xff, 0xe0], "image/jpeg"),
            (Array("GIF89a".utf8), "image/gif"), (Array("RIFF1234WEBPVP8 ".utf8), "image/webp"),
            (Array("ID3\u{3}".utf8), "audio/mpeg"), ([0xff, 0xfb, 0x90, 0x00], "audio/mpeg"),
            (Array("\0\0\0\u{20}ftypM4A ".utf8), "audio/mp4"), (Array("OggS".utf8), "audio/ogg"),
            (Array("<!DOCTYPE HTML><p>".utf8), "text/html"), (Array("\n <script>".utf8), "text/html"),
            (Array("<?xml version='1.0'?><svg xmlns=''>".utf8), "image/svg+xml"),
            (Array("MZ\u{90}".utf8), "application/vnd.microsoft.portable-executable"),
            (Array("%PDF-1.7".utf8), "application/pdf"), (Array("#!/bin/sh".utf8), "application/x-sh"),
            ([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0], "application/x-ole-storage"),
        ] as [([UInt8], String)])
    func found(bytes: [UInt8], type: String) {
        #expect(MediaType.found(in: bytes) == type)
        #expect(MediaType.name(of: bytes, declared: "image/png") == type)
    }

    @Test("What does not tell is what its sender says; a page that runs code is never shown in place")
    func others() {
        #expect(MediaType.found(in: Array("안녕".utf8)) == nil && MediaType.found(in: []) == nil)
        #expect(MediaType.name(of: Array("x".utf8), declared: "text/csv") == "text/csv")
        #expect(MediaType.name(of: [], declared: nil) == "application/octet-stream")
        // What would begin otherwise is none of these, though its sender says so.
        for type in ["image/png", "IMAGE/JPEG", "image/gif; q=1", "audio/mpeg", "application/zip"] {
            #expect(MediaType.name(of: Array("random".utf8), declared: type) == MediaType.unknown, "\(type)")
        }
        #expect(MediaType.name(of: Array("II*\0".utf8), declared: "image/tiff") == "image/tiff")
        for (bytes, claimed, served) in [
            ("%PDF-1.7", "text/html", "application/pdf"), ("%PDF-1.7", "text/plain", "application/pdf"),
            ("plain", "text/html", "application/octet-stream"), ("plain", "image/png", "application/octet-stream"),
            ("plain", "text/plain", "text/plain"), ("plain", "Image/SVG+XML", "application/octet-stream"),
            ("PK\u{3}\u{4}", "application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"),
            ("PK\u{3}\u{4}", "text/html", "application/zip"), ("GIF89a", "text/html", "image/gif"),
        ] { #expect(MediaType.served(bytes.utf8, claimed: claimed) == served, "\(bytes) as \(claimed)") }
        #expect(MediaType.served("plain".utf8, claimed: nil) == MediaType.unknown)
        #expect(MediaType.inline.isDisjoint(with: ["text/html", "image/svg+xml", "text/xml", "application/pdf"]))
        #expect(
            MediaType.isAllowed("image/PNG", by: ["image/*"]) && !MediaType.isAllowed("images/png", by: ["image/*"]))
        #expect(MediaType.isAllowed("x/y", by: []) && !MediaType.isAllowed("x/y", by: ["x/z"]))
    }
}
