internal import CommandLineKit

extension KoreanTexts {
    /// Why an event is quarantined: views cannot read it, or not all of it.
    static let unread: [Phrase] = [
        Phrase("its header is of a later format", "헤더가 이후 버전의 형식입니다"),
        Phrase("header: {0}", "헤더: {0}"),
        Phrase("it is not the message it should be ({0})", "헤더의 형식이 아닙니다 ({0})"),
        Phrase("it does not have the canonical form", "정해진 표현과 다릅니다"),
        Phrase("payload: it was kept as it came by an earlier release", "내용: 이전 릴리스가 온 그대로 보관했습니다"),
        Phrase("it was kept as it came by an earlier release", "이전 릴리스가 온 그대로 보관했습니다"),
        Phrase("payload: {0} at byte {1}", "내용: {1}바이트 위치에서 JSON이 아닙니다 ({0})"),
        Phrase(
            "payload: {0} bytes, at most {1} are taken; put large content into attachments",
            "내용: {0}바이트. 최대 {1}바이트입니다"),
        Phrase("attachments: {0}", "attachments: {0}"),
        Phrase("an item is no object", "객체가 아닌 항목이 있습니다"),
        Phrase("sha256 is not 64 lowercase hexadecimal digits", "sha256: 16진수 소문자 64자리가 아닙니다"),
        Phrase("bytes is missing or not a whole number from 0 on", "bytes: 없거나 0 이상의 정수가 아닙니다"),
        Phrase("mediaType is not a type and a subtype, as image/png", "mediaType: image/png 같은 형식이 아닙니다"),
        Phrase("it is no list", "목록이 아닙니다"),
        Phrase("more than {0} items", "항목이 {0}개를 넘습니다"),
        Phrase("fields is missing or not an object", "fields: 없거나 객체가 아닙니다"),
        Phrase(
            "choice, choices or rating is missing or of a wrong type", "choice, choices, rating: 없거나 형식이 다릅니다"),
        Phrase("text is missing or not text", "text: 없거나 글이 아닙니다"),
        Phrase("title is missing or not text", "title: 없거나 글이 아닙니다"),
        Phrase("contact is missing or not text", "contact: 없거나 글이 아닙니다"),
        Phrase("query is missing or not text", "query: 없거나 글이 아닙니다"),
        Phrase("survey is missing or not text", "survey: 없거나 글이 아닙니다"),
        Phrase("question is missing or not text", "question: 없거나 글이 아닙니다"),
        Phrase("query has over 1,024 bytes", "query: 1,024바이트를 넘습니다"),
        Phrase("query and all do not go together", "query와 all을 함께 쓸 수 없습니다"),
        Phrase("scope is none of those there are", "scope: 쓸 수 없는 값입니다"),
        Phrase("category is none of those there are", "category: 쓸 수 없는 값입니다"),
        Phrase("participants is not a list of texts", "participants: 글의 목록이 아닙니다"),
        Phrase("moderators is not a list of texts", "moderators: 글의 목록이 아닙니다"),
        Phrase("message is missing", "message: 없습니다"),
        Phrase("message is not an event id", "message: 이벤트 ID가 아닙니다"),
        Phrase("upTo is missing", "upTo: 없습니다"),
        Phrase("upTo is not an event id", "upTo: 이벤트 ID가 아닙니다"),
        Phrase("text is missing", "text: 없습니다"),
        Phrase("text is not text", "text: 글이 아닙니다"),
        Phrase("title is not text", "title: 글이 아닙니다"),
        Phrase("category is not text", "category: 글이 아닙니다"),
        Phrase("user is not text", "user: 글이 아닙니다"),
        // Of a contact: its name, phoneNumber or source.
        Phrase("{0} is not text", "{0}: 글이 아닙니다"),
        Phrase("{0} without a conversation", "{0}: 대화가 없습니다"),
    ]
}
