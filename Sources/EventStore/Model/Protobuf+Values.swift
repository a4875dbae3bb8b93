extension ProtobufWriter {
    /// 16 bytes.
    package mutating func uuid(_ field: UInt64, _ value: UUIDBits) {
        varint(field << 3 | 2)
        bytes.append(16)
        value.append(to: &bytes)
    }

    /// 32 bytes.
    package mutating func digest(_ field: UInt64, _ value: Digest) {
        varint(field << 3 | 2)
        bytes.append(32)
        value.append(to: &bytes)
    }
}

extension ProtobufReader {
    package func uuid(_ value: Value, _ field: UInt64) throws(ProtobufError) -> UUIDBits {
        guard let bits = UUIDBits(bytes: bytes[try value.range(field)]) else { throw .wrongLength(field: field) }
        return bits
    }

    package func digest(_ value: Value, _ field: UInt64) throws(ProtobufError) -> Digest {
        guard let digest = Digest(bytes: bytes[try value.range(field)]) else { throw .wrongLength(field: field) }
        return digest
    }
}
