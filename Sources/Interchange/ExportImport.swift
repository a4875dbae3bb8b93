/// One import of an export, in two passes: the first reads all of it and stores nothing, the second hands its events in. So what is
/// malformed is refused as a whole, however large it is.
package final class ExportImport {
    package let files: ExportFiles
    package let format: ExportFormat
    private let reader: any ExportReader

    package init(_ files: ExportFiles, as format: ExportFormat, _ options: ImportOptions) {
        (self.files, self.format) = (files, format)
        reader = format.reader(options)
    }

    /// Reads everything. What would be handed in is counted.
    ///
    /// - Parameter take: Sees each event; false: no more is wanted.
    package func check(_ take: @escaping (ImportedEvent) -> Bool = { _ in true }) throws(ImportError) -> ImportOutput
    {
        let output = ImportOutput(isCheck: true, file: files.path, take: take)
        try read(into: output)
        return output
    }

    /// Reads everything again, after ``check(_:)``, and hands it in.
    package func run(_ take: @escaping (ImportedEvent) -> Bool) throws(ImportError) -> ImportOutput {
        let changed = ImportError(
            .malformed, files.path, "it was changed while it was read; nothing more is taken from it")
        guard files.isUnchanged else { throw changed }
        let output = ImportOutput(isCheck: false, file: files.path, take: take)
        try read(into: output)
        guard files.isUnchanged else { throw changed }
        return output
    }

    private func read(into output: ImportOutput) throws(ImportError) {
        files.beginReading()
        try reader.read(files, into: output)
        guard output.events > 0 || !output.skipped.isEmpty else {
            throw ImportError(.malformed, files.path, "read as \(format.title), and nothing was found in it")
        }
        // Pictures and films, ratings, a page that shows the same: nothing that was given is left out without a word.
        for name in files.unread { output.skip("a file of the export that is not taken", at: name) }
    }
}
