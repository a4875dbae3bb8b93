/// Makes the id of a line that has none, so that importing the same line twice adds nothing.
///
/// The id is a UUIDv8 (RFC 9562 §5.8) of these 16 bytes, so that ids sort by time as UUIDv7 do:
///
/// - bytes 0 to 5: the line's `time` as Unix milliseconds, most significant byte first; zero when the line has no time
///   or one before 1970;
/// - bytes 6 to 15: the same bytes of a SHA-256 digest, with the upper four bits of byte 6 set to 8 (the version) and
///   the upper two bits of byte 8 set to binary 10 (the variant).
///
/// The digest of a line that has a `recordid`, which is not empty, is over
///
///     "sillok-id-v1" ‖ 0x00 ‖ source ‖ 0x00 ‖ recordid
///
/// where a missing `source` is the empty string. Neither may have U+0000. The digest of any other line is over
///
///     "sillok-id-v1" ‖ 0x01 ‖ F(type) ‖ F(time) ‖ F(subject) ‖ F(user) ‖ F(author) ‖ F(cause) ‖ F(dataversion) ‖ F(data)
///
/// where `F(x)` is 0x00 for a missing member and otherwise 0x01 ‖ the count of bytes as a 32-bit integer, most significant byte first ‖
/// the bytes. Strings are UTF-8 after their escapes are decoded; `time` is the text as it is written; a missing `author` is the user.
/// `cause` is in lowercase; `dataversion` is in decimal digits, "1" when missing; `data` is verbatim, from brace to brace.
struct DerivedEventID {
    private let sha256 = SHA256()

    /// The id for `line`, with its `time` and `subject` as they were written.
    func identifier(of line: NativeLine, time: String?, subject: String?) -> EventID {
        var input = Array("sillok-id-v1".utf8)
        if let recordID = line.recordID {
            input.append(0)
            input += (line.source ?? "").utf8
            input.append(0)
            input += recordID.utf8
        } else {
            let draft = line.draft
            input.append(1)
            append(draft.type.utf8, to: &input)
            append(time?.utf8, to: &input)
            append(subject?.utf8, to: &input)
            append(draft.user.utf8, to: &input)
            append((draft.author ?? draft.user).utf8, to: &input)
            append(draft.cause?.description.utf8, to: &input)
            append(String(draft.version).utf8, to: &input)
            append(draft.payload, to: &input)
        }
        return EventID(derivedFrom: sha256.digest(input), first48: UInt64(max(0, line.draft.time ?? 0)) << 16)
    }

    private func append(_ field: (some Collection<UInt8>)?, to input: inout [UInt8]) {
        guard let field else {
            input.append(0)
            return
        }
        input.append(1)
        input.appendBigEndian(UInt32(field.count))
        input += field
    }
}

extension EventID {
    /// The id of a record that came from elsewhere, by the name it has there: what ``DerivedEventID`` makes of a line with
    /// `source`, `recordid` and `time`. A record that others name without knowing its time goes without one.
    package init(record: String, of source: String, time: Int64 = 0) {
        let input = Array("sillok-id-v1".utf8) + [0] + Array(source.utf8) + [0] + Array(record.utf8)
        self.init(derivedFrom: SHA256().digest(input), first48: UInt64(max(0, time)) << 16)
    }

    /// The id of what `bot` says in reply to the event `cause`: workers that answer the same message make the same id, so
    /// that one reply is stored (docs/reference/FORMATS.md §4).
    ///
    /// It is a UUIDv8 (RFC 9562 §5.8): bytes 0 to 5 are those of `cause`, which are its time in a UUIDv7 or one derived
    /// here; bytes 6 to 15 are those of the SHA-256 digest of
    ///
    ///     "sillok-reply-v1" ‖ 0x00 ‖ bot ‖ 0x00 ‖ the 16 bytes of cause ‖ 0x00 ‖ label
    ///
    /// with version and variant set.
    ///
    /// - Parameters:
    ///   - bot: The author of the reply; without U+0000, as no author has it.
    ///   - label: Tells several replies of one bot to one message apart.
    ///   - turn: From 2 on: the id that comes next, where an event of another one has those before. The label is followed by
    ///     0x00 and the turn in decimal digits then.
    public init(replyTo cause: EventID, by bot: String, label: String = "", turn: Int = 1) {
        let input =
            Array("sillok-reply-v1".utf8) + [0] + Array(bot.utf8) + [0] + cause.bytes + [0] + Array(label.utf8)
            + (turn > 1 ? [0] + Array(String(turn).utf8) : [])
        self.init(derivedFrom: SHA256().digest(input), first48: cause.bits.high)
    }

    /// So many ids of a reply there are: those that another one's events have are passed over, so that no one can keep a bot from
    /// answering.
    package static let replyTurns = 8

    /// Whether it is a UUIDv8, as all derived ids are and none that is made by chance.
    package var isDerived: Bool { bits.high >> 12 & 0xf == 8 && bits.low >> 62 == 2 }

    /// A UUIDv8 of the first 48 bits of a word and bytes 6 to 15 of a digest.
    fileprivate init(derivedFrom digest: Digest, first48 word: UInt64) {
        self.init(
            UUIDBits(
                high: word & ~0xffff | 0x8000 | digest.words.0 & 0x0fff,
                low: digest.words.1 & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000))
    }
}
