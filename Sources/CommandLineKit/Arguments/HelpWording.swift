/// The headings of help texts, in both languages.
enum HelpWording: CaseIterable {
    case usage, commandOperand, optionsOperand, examples, commands, arguments, options, generalOptions, time, more,
        oneOf, repeatable

    var phrase: Phrase {
        switch self {
        case .usage: Phrase("Usage: {0}", "사용법: {0}")
        case .commandOperand: Phrase("<command>", "<명령>")
        case .optionsOperand: Phrase("[options]", "[옵션]")
        case .examples: Phrase("Examples:", "예:")
        case .commands: Phrase("Commands:", "명령:")
        case .arguments: Phrase("Arguments:", "인자:")
        case .options: Phrase("Options:", "옵션:")
        case .generalOptions: Phrase("General options:", "공통 옵션:")
        case .time: Phrase("TIME:", "시각(TIME) 쓰는 법:")
        case .more: Phrase("More: {0}", "자세히: {0}")
        case .oneOf: Phrase(" One of: {0}.", " 다음 중 하나: {0}.")
        case .repeatable: Phrase(" Repeatable.", " 여러 번 쓸 수 있습니다.")
        }
    }
}
