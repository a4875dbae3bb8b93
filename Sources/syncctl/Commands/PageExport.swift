internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import Interchange
internal import SillokAPI

/// A page as `export --format html` writes it: with its pictures, with what the node held, and with `--proof` beside it what proves it.
final class PageExport {
    let page: ConversationPage
    let pictures: PagePictures
    /// How the export ends, as far as the proof says.
    private(set) var code = ExitCode.success
    private let session: Session
    private let conversation: String
    /// Where the proof goes; `nil` where none is wanted.
    private let proof: String?
    var isProven: Bool { proof != nil }

    init(
        _ session: Session, _ reads: Reads, _ settings: ConversationPage.Settings, of conversation: String
    ) throws(CommandFailure) {
        (self.session, self.conversation) = (session, conversation)
        let stem = session.arguments.value("out").map { $0.hasSuffix(".html") ? String($0.dropLast(5)) : $0 }
        proof = try session.arguments.flag("proof") ? Self.proof(session, stem) : nil
        let place = try reads.place
        let pictures = PagePictures(session, try AttachmentSource(session, place), of: conversation, beside: stem)
        var settings = settings
        settings.receipt = try Self.receipt(session, place)
        settings.bytes = pictures.bytes
        page = ConversationPage(settings)
        self.pictures = pictures
    }

    /// Where the proof goes: asked before anything is read.
    private static func proof(_ session: Session, _ stem: String?) throws(CommandFailure) -> String {
        guard let stem else {
            throw usageFailure("--proof writes a file beside the page", hint: "--out FILE says where the page goes")
        }
        // It is made of files, also beside a daemon.
        _ = try StoreLocation.find(for: session)
        let path = stem + ".proof"
        _ = try ByteOutput(session, to: path)
        return path
    }

    /// What the node holds, before the page is read; `nil` where the one who asks may not hear it.
    private static func receipt(_ session: Session, _ place: NodeOrFiles) throws(CommandFailure) -> Receipt? {
        do throws(CommandFailure) {
            return try ReceiptFile.make(place, session).receipt
        } catch  where error.code == ErrorCode.role.rawValue {
            return nil
        }
    }

    /// Writes what proves the events that `query` finds, and the others that the page shows words of, where it is wanted. The page was read
    /// before: its events are all among them.
    func prove(_ query: TimelineQuery) throws(CommandFailure) {
        guard let path = proof else { return }
        let output = try ByteOutput(session, to: path)
        let sha = RunningSHA256()
        // Of a whole conversation the query finds them.
        let others = query == TimelineQuery() ? [] : page.quoted
        code = try ProofOutput.run(session, .conversation(conversation), query, with: others) {
            piece throws(CommandFailure) in
            try output.write(piece)
            sha.add(piece[...])
        }
        try output.finish()
        page.proof = (Self.name(of: path), sha.finish())
    }

    /// The last part of a path.
    static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}
