/// Consecutive rows of a log on their way to an empty node: a piece of a snapshot. Columns instead of events, with texts
/// and origins named once: a third of the work of encoding, decoding and checking events one by one, and a leaf's hash
/// is over the same bytes. docs/reference/FORMATS.md §7 has the layout of the byte strings.
///
/// From a peer none of this is trusted: ``CheckedRows`` reads it.
package struct SnapshotRows: Hashable, Sendable {
    /// An origin that occurs, and the seq of its first row here; its others follow without gaps.
    package struct Run: Hashable, Sendable {
        /// Whose events.
        package let origin: OriginID
        /// From 1.
        package let first: UInt64

        /// A run of these parts.
        package init(origin: OriginID, first: UInt64) {
            self.origin = origin
            self.first = first
        }
    }

    /// The sender's position before the first row.
    package var after: UInt64
    /// How many rows.
    package var count: Int
    /// In the order of their first row.
    package var runs: [Run]
    /// Signed heads whose sizes are reached by rows here, ascending by origin and size. Not checked here.
    package var heads: [SignedHead]
    /// Texts that occur, each once: its length as a varint, its bytes. This and the others may be parts of a whole message.
    package var names: ArraySlice<UInt8>
    /// For each row flags, references and numbers.
    package var columns: ArraySlice<UInt8>
    /// The rows' ids, 16 bytes each.
    package var ids: ArraySlice<UInt8>
    /// The rows' salts, 16 bytes each; for an erased row its payload digest, 32 bytes.
    package var salts: ArraySlice<UInt8>
    /// The rows' payloads, one after the other.
    package var payloads: ArraySlice<UInt8>

    /// No rows after `after`.
    package init(after: UInt64) {
        self.after = after
        count = 0
        runs = []
        heads = []
        names = []
        columns = []
        ids = []
        salts = []
        payloads = []
    }

    /// The sender's position of the last row.
    package var last: UInt64 { after + UInt64(count) }

    /// About how many bytes this takes in a message.
    package var size: Int {
        names.count + columns.count + ids.count + salts.count + payloads.count + runs.count * 24 + heads.count * 160
    }

    /// Most rows in one piece.
    package static let limit = 8_192

    /// Bits of a row's first byte: which of the columns it has.
    enum Flag {
        static let conversation: UInt8 = 1
        static let time: UInt8 = 2
        static let author: UInt8 = 4
        static let cause: UInt8 = 8
        static let dependencies: UInt8 = 16
        static let version: UInt8 = 32
        static let unknown: UInt8 = 64
        static let erased: UInt8 = 128
    }
}
