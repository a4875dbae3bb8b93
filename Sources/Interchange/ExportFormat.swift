/// The formats by name, in the order in which they are tried.
package enum ExportFormat: String, CaseIterable, Sendable {
    case kakaotalk, whatsapp, telegram, slack, matrix, chatgpt, openai, firestore, firebase, coredata, swiftdata

    /// Its name in sentences.
    package var title: String {
        switch self {
        case .kakaotalk: "KakaoTalk, text or CSV"
        case .whatsapp: "WhatsApp text"
        case .telegram: "Telegram Desktop JSON"
        case .slack: "Slack export"
        case .matrix: "Matrix room export of Element"
        case .chatgpt: "ChatGPT data export"
        case .openai: "OpenAI fine-tuning JSONL"
        case .firestore: "Firestore JSON"
        case .firebase: "Firebase Realtime Database JSON"
        case .coredata: "Core Data store of searches"
        case .swiftdata: "SwiftData store"
        }
    }

    package func reader(_ options: ImportOptions) -> any ExportReader {
        switch self {
        case .kakaotalk: KakaoTalk(options)
        case .whatsapp: WhatsApp(options)
        case .telegram: Telegram(options)
        case .slack: Slack(options)
        case .matrix: Matrix(options)
        case .chatgpt: ChatGPT(options)
        case .openai: OpenAI(options)
        case .firestore: Firestore(options)
        case .firebase: RealtimeDatabase(options)
        case .coredata: CoreDataSearches(options)
        case .swiftdata: SwiftDataStore(options)
        }
    }
}
