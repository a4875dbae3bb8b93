/// Five ways through the code. Each lists every file in which a decision is made about what is on its way, or a state kept.
///
/// Left out is what says by its name what it does. That is values and their codecs (`Model`, `Proofs`, JSON, HTTP and Protocol Buffers as
/// bytes, packed rows, refs of texts), counters and gauges, and the tools of all rooms (`Basics`, `SQLite`, the event loop).
enum Walks {
    static let all = [request, append, frame, query, projection]

    private static let request = Walk(
        "A request", most: 9,
        """
        What all requests go through, from the socket to an endpoint and back. The request comes up from the socket by a closure that
        `APIServer` has handed down, so the files of HTTP stand below it. An append and a query go on from here.
        """,
        [
            Step("syncd/Endpoints/APIServer.swift", "who answers: the loop itself, a pool, a worker"),
            Step("syncd/Answers/AdmittedRequest.swift", "who asks, for what, with which parameters; or a refusal"),
            Step("syncd/Answers/Reply.swift", "an answer or a refusal to status and body"),
            Step("syncd/Access/Authenticator.swift", "a token, or the process at the other end of the socket"),
            Step("SillokAPI/RouteTable.swift", "what a path and a method lead to, and for whom"),
            Step("SyncEngine/Networking/HTTP/HTTPServer.swift", "connections, and how much they may have under way"),
            Step(
                "SyncEngine/Networking/HTTP/HTTPConnection.swift", "reads, serves one request after another, writes"),
            Step("SyncEngine/Networking/HTTP/HTTPParser.swift", "bytes to a request, within limits"),
            Step("SyncEngine/Networking/HTTP/HTTPExchange.swift", "the one answer of a request, from any thread"),
        ])

    private static let append = Walk(
        "An append", most: 19,
        """
        `POST /v1/events` with one event, from the endpoint to the disk.
        """,
        [
            Step(
                "syncd/Endpoints/AppendEndpoint.swift", "commits at once, or gathers requests to the end of the turn"),
            Step("syncd/Endpoints/LeadRule.swift", "which of the two"),
            Step("syncd/Endpoints/Service.swift", "what keeps the node from taking appends"),
            Step("syncd/Endpoints/AppendBatch.swift", "parameters and lines to drafts; later outcomes to an answer"),
            Step("SillokAPI/AppendAnswer.swift", "one line for each line, and which status the whole has"),
            Step("EventStore/Interchange/NativeLine.swift", "a line to a draft, or why it is none"),
            Step("EventStore/EventStore.swift", "drafts to a job of the writer"),
            Step("EventStore/Writer/DraftValidation.swift", "checks and hashes payloads; some may be rejected"),
            Step("EventStore/Writer/LogWriter.swift", "who writes and who syncs; answers when the disk has it"),
            Step("EventStore/Writer/WriteQueue.swift", "what waits, what a thread does next, one sync at a time"),
            Step("EventStore/Writer/Committer.swift", "the connection, and room in the WAL"),
            Step(
                "EventStore/Writer/LogTransactions.swift",
                "one transaction: jobs, seal, heads; or what its failure means"),
            Step("EventStore/Writer/Appender.swift", "position, seq and stamp; an id that is here already"),
            Step("EventStore/Writer/HeadSigner.swift", "whether a signed head is stored beside it"),
            Step("EventStore/Writer/WALSync.swift", "waits for the disk, once"),
            Step("EventStore/Log/LogState.swift", "what the writer knows of the log"),
            Step("EventStore/Log/EventRow.swift", "the event as a row"),
            Step("EventStore/Log/MerkleStore.swift", "which roots of the tree are stored"),
            Step("EventStore/Log/LogEnd.swift", "says where the durable log ends, before anyone is told"),
        ])

    private static let frame = Walk(
        "A frame", most: 25,
        """
        A frame of events from a peer, until they are durable and the peer has heard so. The way leads from the link to the
        session and to the store. It comes back as a notice of the commit, which the session answers with a statement. The frame
        comes up from the link by a closure of `PeerLink`.
        """,
        [
            Step("SyncEngine/Node/PeerLink.swift", "takes frames, performs effects; stores here or on a thread"),
            Step("SyncEngine/Node/SessionShell.swift", "tells the session, then the mesh"),
            Step("SyncEngine/Node/StoreWorkers.swift", "the thread that verifies; what becomes of its answer"),
            Step("SyncEngine/Node/StoreWork.swift", "frame to verified batch to what the session is told"),
            Step("SyncEngine/Node/NodeCore.swift", "observes commits; a notice to every session"),
            Step("SyncEngine/Node/CommitInbox.swift", "whether a notice wakes the loop"),
            Step(
                "SyncEngine/Session/SyncSession.swift",
                "which messages are in turn; what a commit leads to; when the peer is told what is durable"),
            Step("SyncEngine/Session/SyncSession+Events.swift", "credit; a frame to be stored, held, or dropped"),
            Step("SyncEngine/Session/SessionState.swift", "what is under way, and how much is too much"),
            Step("SyncEngine/Wire/Message.swift", "a frame to a message, and a statement to a frame"),
            Step("SyncEngine/Networking/Links/TLSLink.swift", "the connection and its end"),
            Step("SyncEngine/Networking/Links/TLSLinkTraffic.swift", "whole frames in; control before data out"),
            Step("EventStore/EventStore.swift", "a verified batch to a job of the writer"),
            Step("EventStore/Writer/LogWriter.swift", "commits here or on the writer's threads; tells observers"),
            Step("EventStore/Writer/WriteQueue.swift", "as in an append"),
            Step("EventStore/Writer/Committer.swift", "as in an append"),
            Step("EventStore/Writer/LogTransactions.swift", "as in an append"),
            Step("EventStore/Writer/Appender.swift", "what is here already is passed over; twins; no gap"),
            Step("EventStore/Writer/HeadSigner.swift", "as in an append"),
            Step("EventStore/Writer/WALSync.swift", "as in an append"),
            Step(
                "EventStore/Replication/IngestVerifier.swift",
                "before that: form, order, dependencies, signature, proof"),
            Step("EventStore/Log/LogState.swift", "as in an append"),
            Step("EventStore/Log/EventRow.swift", "as in an append"),
            Step("EventStore/Log/MerkleStore.swift", "roots and the peer's heads"),
            Step("EventStore/Log/LogEnd.swift", "as in an append"),
        ])

    private static let query = Walk(
        "A query", most: 16,
        """
        `GET /v1/users/U/history`, the last 50, from the endpoint to the bytes of the answer. Views and the projector stand beside each
        other: the projector is waited for first.
        """,
        [
            Step(
                "syncd/Endpoints/ReadEndpoint.swift",
                "the pool, with a reader for each thread; the page, line by line, and where the next one begins"),
            Step("syncd/Endpoints/PageRequest.swift", "parameters: which end first, how many, behind what"),
            Step("syncd/Access/Sight.swift", "what the caller sees: here all"),
            Step("SillokAPI/ReadRoute.swift", "which query a path is"),
            Step("SillokAPI/EventLines.swift", "an event to a line; origins that came meanwhile"),
            Step(
                "EventStore/Reading/EventReader.swift",
                "the log's end now; who brings the views so far, and views that have come so far, or again"),
            Step(
                "EventStore/Views/ViewReader.swift",
                "one transaction on the views that are in place; edits and retractions of the messages of a page"),
            Step(
                "EventStore/Views/ViewReader+Timeline.swift", "rows, their order, then events and what became of them"
            ),
            Step("EventStore/Projection/ProjectorThread.swift", "waits until the views are there"),
            Step("EventStore/Views/Messages/MessagesView.swift", "edits and retractions, and which of them count"),
            Step("EventStore/LSM/OwnerRows.swift", "rows of the run and those not in it yet, merged"),
            Step("EventStore/LSM/SortedTable.swift", "what is in the run and what is not"),
            Step("EventStore/LSM/Memtables.swift", "what is in memory of an owner"),
            Step("EventStore/Log/LogReader.swift", "the events at the positions found"),
            Step("EventStore/Log/TwinMarks.swift", "whether a twin counts instead"),
            Step("EventStore/Log/EventRow.swift", "a row to an event"),
        ])

    private static let projection = Walk(
        "A projection", most: 12,
        """
        From the writer's notice of a commit until the views have its event, here a message. Views of other types of events are as
        `TimelineView`, each in its folder. Compaction comes later, and is another way.
        """,
        [
            Step(
                "EventStore/Projection/ProjectorThread.swift",
                "hears of the commit; applies now, later, or where it was committed"),
            Step("EventStore/Projection/BatchingDelay.swift", "how long events are gathered"),
            Step(
                "EventStore/Projection/Projector.swift",
                "one step: events to views in one transaction; twins, quarantine"),
            Step(
                "EventStore/Projection/ProjectionTarget.swift", "the file under work, and which views take an event"),
            Step("EventStore/Projection/ViewDatabase.swift", "the table of views, and how far they are"),
            Step("EventStore/Views/Timeline/TimelineView.swift", "a row for the conversation and one for the user"),
            Step("EventStore/Views/Profiles/ProfilesView.swift", "notes what each origin had applied"),
            Step("EventStore/Views/Contract/ProjectedEvent.swift", "reads the event, and what stands in its way"),
            Step("EventStore/Views/Contract/PayloadForms.swift", "whether its payload has the form of its type"),
            Step("EventStore/Views/Contract/View.swift", "what a view is asked for, in which order"),
            Step("EventStore/LSM/LSMTree.swift", "gathers rows, writes the tail"),
            Step("EventStore/LSM/Memtables.swift", "shows them to readers once they are committed"),
        ])

    static var markdown: String { all.map(\.markdown).joined(separator: "\n") }
}

extension Walk {
    fileprivate var markdown: String {
        let rows = steps.enumerated().map { index, step in
            "| \(index + 1) | [\(step.file)](../../Sources/\(step.file)) | \(step.words) |"
        }
        return (["## \(title)", "", words, "", "| | file | what happens there |", "| --- | --- | --- |"] + rows)
            .joined(separator: "\n") + "\n"
    }
}
