internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// Receipts and proven answers as files (FORMATS.md §9, §10).
enum ReceiptFile {
    /// Lines are longer than those of native NDJSON: a payload that cannot be read, a note with many signatures.
    private static let longest = 2 << 20

    /// Reads and checks the whole file; `-` is stdin, and a pipe by name is none: nothing may ever come of it. What contradicts itself ends with exit code 3.
    static func check(
        _ path: String, _ handle: @escaping (Event) -> Void = { _ in }
    ) throws(CommandFailure) -> (receipt: Receipt, check: ReceiptCheck) {
        let input = path == "-" ? try InputFile(path) : try InputFile(regular: path)
        let check = ReceiptCheck(handle)
        var reader = LineReader(descriptor: input.descriptor, longest: longest, isExact: true)
        var number = 0
        do throws(ReceiptError) {
            while let line = try next(&reader) {
                number = line.number
                guard case .text(let bytes, let range) = line.content else {
                    throw number == 1 ? .other : .line("length")
                }
                try check.take(bytes, range)
            }
            // Its last line is what the page has a writer write, and that ends with a newline.
            if reader.isUnended { throw .cut }
            return (try check.finish(), check)
        } catch {
            throw failure(error, path, number)
        }
    }

    private static func next(_ reader: inout LineReader) throws(ReceiptError) -> Line? {
        do { return try reader.next() } catch { throw .line("\(error)") }
    }

    private static func failure(_ error: ReceiptError, _ path: String, _ line: Int) -> CommandFailure {
        guard error != .other else {
            return CommandFailure(
                code: error.code, "\(path): \(error)",
                hint:
                    "syncctl receipt --out FILE makes a receipt, syncctl history UID --proof > FILE a proven answer",
                exitCode: .badInput)
        }
        return CommandFailure(
            code: error.code, "\(path), line \(line): \(error)", why: "Nothing in this file is proven.",
            hint: "ask who made it for the file once more, or for another one: what was changed is not mended here",
            exitCode: .integrityFailure)
    }

    /// Reads and checks what a daemon has sent.
    static func check(_ body: [UInt8]) throws(ReceiptError) -> Receipt {
        let check = ReceiptCheck()
        try check.take(lines: body)
        return try check.finish()
    }

    /// A receipt as it is now, with its bytes.
    static func make(
        _ place: NodeOrFiles, _ session: Session
    ) throws(CommandFailure) -> (receipt: Receipt, bytes: [UInt8]) {
        switch place {
        case .daemon(let daemon):
            let bytes = try daemon.ask(ClientRequest(target: Route.receipt.path)).body
            do throws(ReceiptError) {
                return (try check(bytes), bytes)
            } catch {
                throw DaemonClient.misunderstood("no receipt: \(error)")
            }
        case .files(let files):
            let now = session.now
            return try stored {
                let builder = try ReceiptBuilder(files, key: key(files))
                let receipt = try builder.receipt(at: now)
                return (receipt, builder.bytes(of: receipt))
            }
        }
    }

    /// A head of all that the daemon which has this store open has appended: it signs one when it is asked. `nil` without a daemon.
    static func headOfDaemon(_ files: StoreFiles) -> SignedHead? {
        guard let daemon = try? DaemonClient.running(files),
            let answer = try? ClientRequest(target: Route.receipt.path).send(to: daemon.place), answer.status == 200,
            let own = try? StoreIdentity(LogReader(files)).origin
        else { return nil }
        return (try? check(answer.body))?.heads.first { $0.head.head.origin == own }?.head
    }

    /// The node's key, if this user may read it: what is made without a daemon is signed with it.
    static func key(_ files: StoreFiles) -> SigningKey? {
        guard let pem = try? SmallFile.read(files.key) else { return nil }
        return SigningKey(pem: pem)
    }
}
