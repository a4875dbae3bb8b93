internal import EventStore

/// The messenger's recent searches: a Core Data store with the entity `SearchResult`. It does not say whose they are.
final class CoreDataSearches: ExportReader {
    private let options: ImportOptions

    init(_ options: ImportOptions) { self.options = options }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        guard let user = options.user else {
            throw ImportError(.needsOption, files.path, "it does not say whose searches these are: --user UID")
        }
        let store = try AppleStore(files, isChecked: output.isCheck)
        let columns = store.columns("ZSEARCHRESULT")
        guard ["Z_PK", "ZID", "ZNAME", "ZDATE"].allSatisfy(columns.contains) else {
            throw ImportError(.malformed, files.path, "no table ZSEARCHRESULT with ZID, ZNAME and ZDATE")
        }
        try store.rows("SELECT Z_PK, ZID, ZNAME, ZDATE FROM ZSEARCHRESULT ORDER BY ZDATE, Z_PK", 4) {
            row throws(ImportError) in
            let place = "ZSEARCHRESULT \(AppleStore.identifier(row[0]) ?? "")"
            guard let id = AppleStore.identifier(row[1]), let name = AppleStore.text(row[2]),
                let time = AppleStore.time(row[3])
            else {
                return output.skip("a search without id, words or date", at: place)
            }
            var payload = Payload()
            payload.add("query", name)
            payload.add("scope", "users")
            payload.addSource("coredata", id)
            try output.emit(
                EventDraft(
                    id: EventID(record: id, of: "coredata:SearchResult", time: time), type: "search.remembered",
                    time: time, user: user,
                    payload: payload.json), at: place)
        }
    }
}
