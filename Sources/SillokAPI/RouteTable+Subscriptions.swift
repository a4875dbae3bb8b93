internal import Access

/// Subscriptions, and the deliveries of their workers.
extension RouteTable {
    static let subscriptions: [RouteSpecification] = [
        RouteSpecification(
            .listSubscriptions, "GET", "/v1/subscriptions", keepers, "Subscriptions.",
            parameters: listPaging,
            answers: [.lines("A page, by name.", .oneOf([.ref("Subscription"), .ref("ListEnd")]))]),
        RouteSpecification(
            .getSubscription, "GET", "/v1/subscriptions/{name}", keepers, "A subscription.",
            answers: [.json("It.", .ref("Subscription"))], errors: [.notFound, .elsewhere]),
        RouteSpecification(
            .putSubscription, "PUT", "/v1/subscriptions/{name}", workers, "Makes a subscription.",
            request: RouteBody(
                schema: .ref("SubscriptionDefinition"),
                example: #"{"start":"now","filter":{"type":["message.posted"]}}"#),
            answers: [
                .json("It was there with these members.", .ref("Subscription")),
                .json(201, "It was made.", .ref("Subscription")),
            ], errors: [.exists]),
        RouteSpecification(
            .changeSubscription, "PATCH", "/v1/subscriptions/{name}", keepers,
            "Gives it other members; what is not stored here yet is handed out by them.",
            request: RouteBody(
                schema: .ref("SubscriptionChange"), example: #"{"filter":{"type":["message.*"]},"attempts":3}"#),
            answers: [.json("It.", .ref("Subscription"))], errors: [.notFound, .elsewhere]),
        RouteSpecification(
            .seekSubscription, "POST", "/v1/subscriptions/{name}/seek", keepers,
            "Begins anew from another place, whatever was done; what is parked stays so.",
            request: RouteBody(
                schema: .object([("start", .words(1 ... .max)), ("reason?", .words(0...4_096))]),
                example: #"{"start":"first","reason":"answers were lost"}"#),
            answers: [.json("It.", .ref("Subscription"))], errors: [.notFound, .elsewhere]),
        RouteSpecification(
            .deleteSubscription, "DELETE", "/v1/subscriptions/{name}", keepers, "Ends a subscription.",
            answers: [RouteAnswer(204, "It is no more.")], errors: [.notFound, .elsewhere]),
        RouteSpecification(
            .listParked, "GET", "/v1/subscriptions/{name}/parked", keepers, "Events that were set aside.",
            parameters: listPaging,
            answers: [.lines("A page, the oldest first.", .oneOf([.ref("Parked"), .ref("ListEnd")]))],
            errors: [.notFound, .elsewhere]),
        RouteSpecification(
            .retryParked, "POST", "/v1/subscriptions/{name}/retry", keepers, "Delivers parked events again.",
            request: RouteBody(
                schema: .object([("events", .list(.uuid, 1...1_000))]),
                example: #"{"events":["0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"]}"#),
            answers: [.json("How many.", .object([("retried", .integer)]))],
            errors: [.notFound, .notParked, .elsewhere]),
        RouteSpecification(
            .moveSubscription, "POST", "/v1/subscriptions/{name}/move", keepers, "Makes this node its home.",
            request: RouteBody(schema: .anyObject, optional: true, example: "{}"),
            answers: [.json("It.", .ref("Subscription"))], errors: [.notFound]),
    ]

    /// The name of a subscription.
    static let subscriptionName = Schema.matching("^[a-z0-9._-]{1,64}$")
    private static let tokens = Schema.list(.words(1 ... .max), 1...1_000)

    static let deliveries: [RouteSpecification] = [
        RouteSpecification(
            .streamDeliveries, "GET", "/v1/subscriptions/{name}/deliveries", workers, "A stream of deliveries.",
            parameters: [
                RouteParameter("window", .number(1...1_000), "At most so many are out at a time; 32 unless said.")
            ],
            answers: [
                .lines("A delivery, or a line with `control`.", .oneOf([.ref("Delivery"), .ref("Control")])),
                RouteAnswer(200, "Server-sent events.", "text/event-stream", .text),
            ], errors: [.notFound, .elsewhere]),
        RouteSpecification(
            .pullDeliveries, "POST", "/v1/subscriptions/{name}/pull", workers, "Deliveries, up to so many.",
            request: RouteBody(
                schema: .object([("max?", .whole(1...1_000)), ("wait_ms?", .whole(0...25_000)), ("ack?", tokens)]),
                optional: true, example: #"{"max":10,"wait_ms":0}"#),
            answers: [
                .json(
                    "None or more; and what came of `ack`.",
                    .object([
                        ("deliveries", .array(.ref("Delivery"))), ("done?", .integer), ("late?", .array(.text)),
                    ]))
            ],
            errors: [.notFound, .elsewhere]),
        settling(
            .ackDeliveries, "ack", "The work is done.", [], .object([("done", .integer), ("late", .array(.text))])),
        settling(
            .releaseDeliveries, "release", "They come again.",
            [("delay_ms?", .whole(0...86_400_000)), ("error?", .words(0...4_096)), ("untried?", .boolean)],
            .object([("count", .integer)])),
        settling(
            .extendDeliveries, "extend", "Gives them time.", [], .object([("count", .integer)])),
        settling(
            .parkDeliveries, "park", "Sets them aside.", [("reason?", .words(0...4_096))],
            .object([("count", .integer)])),
    ]

    private static func settling(
        _ operation: Operation, _ word: String, _ summary: String, _ members: [(String, Schema)], _ answer: Schema
    ) -> RouteSpecification {
        RouteSpecification(
            operation, "POST", "/v1/subscriptions/{name}/\(word)", workers, summary,
            request: RouteBody(
                schema: .object([("deliveries", tokens)] + members),
                example: #"{"deliveries":["<the member delivery of a delivery>"]}"#),
            answers: [.json("What came of it.", answer)], errors: [.notFound, .elsewhere, .deliveryStale])
    }
}
