internal import EventStore

/// What a message of Slack shows beside its `text`, which apps leave empty: blocks, and attachments below them.
enum SlackText {
    private static let deepest = 32

    /// The text of a message that has none of its own: of its blocks, else of its attachments. Lines stand below each other.
    static func shown(_ message: JSONObject) -> String {
        let blocks = lines(of: message["blocks"])
        if !blocks.isEmpty { return blocks.joined(separator: "\n") }
        return (message.elements("attachments") ?? []).compactMap(\.object).flatMap(attachment).joined(
            separator: "\n")
    }

    /// Pictures and links that are shown as attachments, as items of `attachments`.
    static func pictures(_ message: JSONObject) -> [Payload] {
        (message.elements("attachments") ?? []).compactMap(\.object).compactMap { attachment in
            guard let url = attachment.string("image_url") ?? attachment.string("thumb_url") else { return nil }
            var item = Payload()
            item.add("name", attachment.string("title") ?? attachment.string("fallback"))
            item.add("url", url)
            return item
        }
    }

    /// Whether an app has put blocks there that say more than the text may.
    static func hasBlocksOfApps(_ message: JSONObject) -> Bool {
        (message.elements("blocks") ?? []).contains { block in
            block.object.map { !["rich_text", "divider"].contains($0.string("type") ?? "") } ?? false
        }
    }

    private static func attachment(_ attachment: JSONObject) -> [String] {
        var lines = [attachment.string("pretext"), attachment.string("title"), attachment.string("text")].compactMap(
            unescaped)
        for field in (attachment.elements("fields") ?? []).compactMap(\.object) {
            let parts = [field.string("title"), field.string("value")].compactMap(unescaped)
            if !parts.isEmpty { lines.append(parts.joined(separator: ": ")) }
        }
        lines += self.lines(of: attachment["blocks"]) + self.lines(of: attachment["message_blocks"])
        if lines.isEmpty {
            lines = [attachment.string("fallback"), attachment.string("from_url")].compactMap(unescaped)
        }
        return lines
    }

    private static func unescaped(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        return Slack.unescaped(text)
    }

    // MARK: Blocks

    private static func lines(of value: JSONValue?) -> [String] {
        var lines: [String] = []
        if let value { collect(value, 0, &lines) }
        return lines
    }

    /// A line for each element that stands for itself; what is in a line of a text goes on in it.
    private static func collect(_ value: JSONValue, _ depth: Int, _ lines: inout [String]) {
        guard depth < deepest else { return }
        if let elements = value.elements {
            for element in elements { collect(element, depth + 1, &lines) }
            return
        }
        guard let object = value.object else { return }
        if object["message"]?.object?["blocks"] != nil, let inner = object.object("message")?["blocks"] {
            return collect(inner, depth + 1, &lines)
        }
        switch object.string("type") ?? "" {
        case "rich_text_section", "rich_text_quote", "rich_text_preformatted":
            let text = (object.elements("elements") ?? []).compactMap(\.object).map(inline).joined()
            if !text.isEmpty { lines.append(text) }
        default:
            for member in ["title", "alt_text", "label"] {
                if let text = object.string(member), !text.isEmpty { lines.append(text) }
            }
            if let text = object.string("text"), !text.isEmpty { lines.append(Slack.unescaped(text)) }
            for member in ["title", "text", "label", "fields", "elements", "accessory", "rows", "description"] {
                if let inner = object[member], inner.kind == .object || inner.kind == .array {
                    collect(inner, depth + 1, &lines)
                }
            }
        }
    }

    /// As Slack writes it in `text`.
    private static func inline(_ element: JSONObject) -> String {
        switch element.string("type") ?? "" {
        case "text": element.string("text") ?? ""
        case "link":
            "<" + (element.string("url") ?? "") + (element.string("text").map { "|" + $0 } ?? "") + ">"
        case "emoji": ":" + (element.string("name") ?? "") + ":"
        case "user": "<@" + (element.string("user_id") ?? "") + ">"
        case "usergroup": "<!subteam^" + (element.string("usergroup_id") ?? "") + ">"
        case "channel": "<#" + (element.string("channel_id") ?? "") + ">"
        case "broadcast": "<!" + (element.string("range") ?? "") + ">"
        default: element.string("text") ?? element.string("fallback") ?? element.string("value") ?? ""
        }
    }
}
