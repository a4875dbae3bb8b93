import Foundation
import Testing

/// Two texts of others may be canonically equivalent and have other bytes: Swift takes them for the same, the log does not. So they are keys as
/// `ByteText`, and sets as `TextSet`.
struct TextKeyTests {
    /// Files whose dictionaries and sets of `String` have no texts of others, and why.
    private static let allowed: [(why: String, files: Set<String>)] = [
        (
            "our own words: names of members, parameters, views, settings, codes, routes",
            [
                "EventStore/Audit/EvidenceLine.swift",
                "EventStore/Eraser.swift",
                "EventStore/EventStore.swift",
                "EventStore/Identity/RollbackDetection.swift",
                "EventStore/Log/SchemaCheck.swift",
                "EventStore/Projection/ProjectionTarget.swift",
                "EventStore/Projection/Projector.swift",
                "EventStore/Projection/ViewDatabase.swift",
                "EventStore/Projection/ViewVersions.swift",
                "EventStore/Writer/LogWriter.swift",
                "EventStore/Writer/WriteJob.swift",
                "Subscriptions/SubscriptionDefinition.swift",
                "SyncEngine/Node/StoreWork.swift",
                "SyncEngine/Node/StoreWorkers.swift",
                "syncd/Access/AccessLog.swift",
                "syncd/Answers/Parameters.swift",
                "syncd/Answers/ToldError.swift",
                "syncd/Configuration/ConfigurationSources.swift",
                "syncd/Configuration/IssuerList.swift",
                "syncd/Endpoints/APIServer.swift",
                "syncd/Endpoints/MetricsEndpoint.swift",
                "syncd/Feed/FeedRequest.swift",
                "syncd/Metrics/Meters.swift",
                "syncd/Setup/ServiceManager.swift",
            ]
        ),
        (
            "ASCII by their form: hexadecimal digits, addresses, names of subscriptions, media types",
            [
                "EventStore/Attachments/MediaType.swift",
                "Subscriptions/SubscriptionRecords.swift",
                "syncd/Access/Authenticator.swift",
                "syncd/Access/Sessions.swift",
                "syncd/Feed/SubscriptionDesk.swift",
                "syncd/Feed/SubscriptionTroubles.swift",
            ]
        ),
        (
            "names of files of ours",
            [
                "EventStore/Identity/OwnSettlements.swift",
                "SyncEngine/Mesh/NodeNotice.swift",
                "SyncEngine/Networking/HTTP/HTTPLimits.swift",
                "syncd/Pages/PageFiles.swift",
            ]
        ),
        (
            "types of events, counted for people",
            ["EventStore/Erasing/ErasurePlan.swift"]
        ),
    ]

    @Test(
        "Texts of others are keys by their bytes",
        arguments: ["Access", "EventStore", "Subscriptions", "SyncEngine", "syncd"])
    func keys(_ target: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
            .standardizedFileURL
        let allowed = Self.allowed.reduce(into: Set<String>()) { $0.formUnion($1.files) }
        var found: Set<String> = []
        let files = try #require(
            FileManager.default.enumerator(at: root.appending(path: target), includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let path = String(file.standardizedFileURL.path.dropFirst(root.path.count + 1))
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let code = line.split(separator: "//", omittingEmptySubsequences: false)[0]
                if code.contains("[String: ") || code.contains("Set<String>") { found.insert(path) }
            }
        }
        #expect(found.subtracting(allowed).isEmpty, "ByteText or TextSet, or a reason in this test")
        #expect(allowed.filter { $0.hasPrefix(target + "/") }.isSubset(of: found), "the list may only shrink")
    }
}
