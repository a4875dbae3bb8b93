internal import CSQLite

// The file of the database, past the page cache. Through SQLite's own descriptor: to close another one would let go of all locks that this
// process has on the file (sqlite.org/howtocorrupt.html, 2.2).
extension Connection {
    /// How long the file is, bytes.
    func fileSize() throws(DatabaseError) -> Int64 {
        var size: Int64 = 0
        try raw("size") { file, methods in methods.xFileSize?(file, &size) ?? SQLITE_MISUSE }
        return size
    }

    /// Fills `bytes` from the file, which must be long enough.
    func readFile(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DatabaseError) {
        try raw("read") { file, methods in
            methods.xRead?(file, bytes.baseAddress, Int32(bytes.count), offset) ?? SQLITE_MISUSE
        }
    }

    /// Overwrites bytes of the file. Durable with ``syncDatabase()``.
    func writeFile(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws(DatabaseError) {
        try raw("write") { file, methods in
            bytes.withUnsafeBytes { methods.xWrite?(file, $0.baseAddress, Int32($0.count), offset) ?? SQLITE_MISUSE }
        }
    }

    private func raw(
        _ what: String, _ body: (UnsafeMutablePointer<sqlite3_file>, sqlite3_io_methods) -> Int32
    ) throws(DatabaseError) {
        guard let file = databaseFile, let methods = file.pointee.pMethods?.pointee else {
            throw .misuse("\(path) is not open")
        }
        let code = body(file, methods)
        guard code == SQLITE_OK else {
            throw DatabaseError(extendedCode: code, message: "the \(what) failed", context: path, path: path)
        }
    }
}
