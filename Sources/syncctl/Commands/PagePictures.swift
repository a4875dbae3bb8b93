internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import Interchange
internal import SillokAPI

/// The pictures of a page: in it, as far as it has room for them, or in a folder beside it.
final class PagePictures {
    private let session: Session
    private let source: AttachmentSource
    private let conversation: String
    /// The path of the page without its ending; `nil` where it is no file.
    private let stem: String?
    private var states: [Digest: AttachmentState]?
    private var hasFolder = false
    /// The ways to those that are in the folder.
    private var beside: [Digest: String] = [:]
    /// What went wrong with one of them, which ends the export.
    private(set) var failure: CommandFailure?

    init(_ session: Session, _ source: AttachmentSource, of conversation: String, beside stem: String?) {
        (self.session, self.source, self.conversation, self.stem) = (session, source, conversation, stem)
    }

    /// What there is of bytes of which so many may stand in the page.
    func bytes(_ digest: Digest, _ item: JSONObject, _ most: Int) -> PageBytes? {
        guard failure == nil else { return nil }
        do throws(CommandFailure) {
            if states == nil { states = try source.states(of: conversation) }
            switch states?[digest] {
            case .missing: return .missing
            case .damaged: return .damaged
            case .leaving: return .erased
            case .present, .unnamed, nil: break
            }
            guard item.string("mediaType")?.hasPrefix("image/") ?? true else { return .present }
            if stem == nil, item.integer("bytes") ?? 0 > Int64(most) { return .tooLarge }
            return try picture(digest, most)
        } catch {
            switch error.code {
            case ErrorCode.attachmentMissing.rawValue, ErrorCode.notFound.rawValue: return .missing
            case ErrorCode.attachmentDigest.rawValue: return .damaged
            default:
                failure = error
                return nil
            }
        }
    }

    /// Reads a picture: into the page, or where that has no room for it into the folder beside it.
    private func picture(_ digest: Digest, _ most: Int) throws(CommandFailure) -> PageBytes {
        if let path = beside[digest] { return .beside(path) }
        var kept: [UInt8] = []
        var file: (output: ByteOutput, path: String)?
        let isWhole = try source.read(digest) { [self] piece throws(CommandFailure) in
            if let file {
                try file.output.write(piece)
                return true
            }
            kept += piece
            guard kept.count > Self.told else { return true }
            guard let ending = Self.ending(kept) else { return false }
            guard kept.count > most else { return true }
            guard let made = try self.file("\(digest).\(ending)") else { return false }
            try made.output.write(kept)
            file = made
            return true
        }
        if let file {
            try file.output.finish()
            beside[digest] = file.path
            return .beside(file.path)
        }
        guard Self.ending(kept) != nil else { return .present }
        return isWhole ? .picture(kept) : .tooLarge
    }

    /// So many bytes tell what a picture is.
    private static let told = 16

    /// By its first bytes, where it is one that browsers open and in which no code runs.
    private static func ending(_ bytes: [UInt8]) -> String? {
        MediaType.found(in: bytes).flatMap { endings[$0] }
    }

    private static let endings = ["image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"]

    /// A file in the folder beside the page, and the way to it from there; `nil` where the page is no file.
    private func file(_ name: String) throws(CommandFailure) -> (output: ByteOutput, path: String)? {
        guard let stem else { return nil }
        let folder = stem + ".files"
        if !hasFolder {
            guard mkdir(folder, 0o700) == 0 else {
                throw CommandFailure.system("cannot make \(folder)", errno: errno, exitCode: .cannotCreate)
            }
            hasFolder = true
        }
        let path = percentEncoded(PageExport.name(of: folder)) + "/" + name
        return (try ByteOutput(session, to: "\(folder)/\(name)"), path)
    }
}
