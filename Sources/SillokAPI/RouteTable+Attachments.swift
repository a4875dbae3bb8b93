internal import Access

/// The bytes of attachments.
extension RouteTable {
    static let attachments: [RouteSpecification] = [
        RouteSpecification(
            .putAttachment, "POST", "/v1/attachments", speakers,
            "Keeps bytes that an event is to name. The header Sillok-Sha256 says their SHA-256, if the client knows it.",
            request: RouteBody("application/octet-stream", schema: .text, optional: true, example: "GIF89a…"),
            answers: [
                .json("They were here before.", .ref("StoredAttachment")),
                .json(201, "They are here now.", .ref("StoredAttachment")),
            ], errors: [.readOnly, .io, .attachmentSize, .attachmentType, .attachmentDigest]),
        RouteSpecification(
            .listAttachments, "GET", "/v1/attachments", readers,
            "What events name, the newest first. Who does not read all asks for one user or conversation of theirs.",
            parameters: [
                RouteParameter("limit", .number(1...500), "At most so many lines; 50 unless said."),
                RouteParameter("cursor", .place, "`next` of the page before, with the same path and parameters."),
                RouteParameter("user", .text, "Only what stands in this user's history."),
                RouteParameter("conversation", .text, "Only what stands in this conversation."),
                RouteParameter(
                    "state", .choice(["missing", "damaged"]),
                    "Only whose bytes are not here, or not as they should be; the first `limit` of them, for who reads all."
                ),
            ],
            answers: [.lines("A page.", .oneOf([.ref("Attachment"), .ref("End")]))], errors: [.notFound, .cursor]),
        RouteSpecification(
            .getAttachment, "GET", "/v1/attachments/{sha256}", readers,
            "The bytes, for who may read an event that names them. The header Range asks for a part.",
            answers: [
                RouteAnswer(200, "All of them, as their media type.", "*/*", .text),
                RouteAnswer(206, "The part.", "*/*", .text),
                RouteAnswer(304, "The client has them."),
            ], errors: [.notFound, .range, .attachmentMissing]),
    ]
}
