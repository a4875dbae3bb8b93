import EventStore
import Foundation

/// Something is not as this program says.
struct NotSo: Error {
    let what: String
    init(_ what: String) { self.what = what }
}

/// Says that something holds, or ends the program.
func expect(_ holds: Bool, _ what: String, isQuiet: Bool = false) throws {
    guard holds else { throw NotSo(what) }
    if !isQuiet { print("ok  \(what)") }
}

let folder = FileManager.default.temporaryDirectory.appending(path: "sillok-embedding-\(UUID().uuidString)").path
var code: Int32 = 0
do {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    do {
        _ = try EventReader(open: folder)
        throw NotSo("a store that is not there cannot be read")
    } catch let error as StoreError {
        try expect(error.code == "E_NO_STORE" && !error.isRetriable, "a missing store says so: \(error)")
    }
    try await embedded(in: folder + "/readme")
    try await appendAndRead(in: folder + "/one")
    try await twoNodes(in: folder)
} catch let error as NotSo {
    print("NOT SO: \(error.what)")
    code = 1
} catch {
    print("failed: \(error)")
    code = 1
}
try? FileManager.default.removeItem(atPath: folder)
exit(code)
