internal import CommandLineKit

extension Wording {
    /// What `import` answers.
    var importing: Phrase {
        switch self {
        case .importedLines:
            Phrase("{0}: {1} appended, {2} already there, {3} rejected", "{0}: 추가 {1}건, 이미 있음 {2}건, 거부 {3}건")
        case .importableLines:
            Phrase("{0}: {1} new, {2} already there, {3} rejected", "{0}: 새 이벤트 {1}건, 이미 있음 {2}건, 거부 {3}건")
        case .nodesLines: Phrase(", {0} that only nodes write passed over", ", 노드만 쓰는 것이라 건너뜀 {0}건")
        case .twinLines: Phrase(", {0} passed over", ", 건너뜀: {0}")
        case .bytesOfLines:
            Phrase(
                "the lines name {0}, whose bytes do not come with lines: syncctl attachment list --missing says which are "
                    + "not here, and syncctl attachment put FILE brings them",
                "줄에 이름이 있는 것: {0}. 내용은 줄에 들어 있지 않습니다. 없는 것은 syncctl attachment list --missing으로 보고, "
                    + "syncctl attachment put FILE로 넣으십시오")
        case .moreRejected:
            Phrase(
                "and {0} more rejected lines; --json names them all",
                "거부된 줄이 {0}개 더 있습니다. 모두 보려면 --json")
        case .importStopped:
            Phrase(
                "interrupted; what is counted is stored. Run the same command again to go on",
                "중단했습니다. 여기까지 센 것은 저장되었습니다. 이어서 하려면 같은 명령을 다시 실행하십시오")
        case .importStoppedInput:
            Phrase(
                "interrupted; what is counted is stored. Give the same input again to go on",
                "중단했습니다. 여기까지 센 것은 저장되었습니다. 이어서 하려면 같은 입력을 다시 주십시오")
        case .importUnbegun: Phrase("interrupted; nothing is stored", "중단했습니다. 저장한 것이 없습니다")
        case .hereExchanged:
            Phrase(
                "{0} is here with day and month exchanged, about {1} of this file: with --twice they are there twice",
                "{0}: 일과 월이 뒤바뀐 채로 이미 있습니다. 이 파일에서 약 {1}. --twice를 쓰면 두 번 들어갑니다")
        case .readAs: Phrase("{0} is read as {1} (--format {2})", "{0}: 이 형식으로 읽습니다: {1} (--format {2})")
        case .recordsPassed: Phrase("passed over: {0}, {1} ({2})", "건너뜀: {0}건, {1} ({2})")
        case .placeLine: Phrase("line {0}", "{0}번째 줄")
        case .toldOtherwise:
            Phrase("differs from what is there: {0}, {1} ({2})", "이미 있는 것과 다름: {0}건, {1} ({2})")
        case .partOfType: Phrase("{0} of {1}", "{1} 이벤트의 {0}")
        case .valuesOfPart: Phrase("{0}: {1} there, {2} here", "{0}: 저장된 값 {1}, 파일의 값 {2}")
        case .noValue: Phrase("nothing", "없음")
        case .differingParts: Phrase(" (differs: {0})", " (다른 항목: {0})")
        case .wayOutOfDifference:
            Phrase(
                "what was imported first stays. Where the export is right, say it: syncctl append --type "
                    + "conversation.renamed "
                    + "--conversation ID --user USER --data '{\"title\":\"…\"}', or --type profile.changed --user USER "
                    + "--data '{\"fields\":{…}}'",
                "먼저 가져온 것이 남습니다. 파일이 맞다면 직접 추가하십시오: syncctl append --type conversation.renamed "
                    + "--conversation ID --user USER --data '{\"title\":\"…\"}', 또는 --type profile.changed --user USER "
                    + "--data '{\"fields\":{…}}'")
        case .notTaken: Phrase("not taken: {0}: {1}   [{2}]", "받지 않음: {0}: {1}   [{2}]")
        case .importedEvents:
            Phrase(
                "{0}: {1} appended, {2} already there, {3} there with other content, {4} rejected; {5} records "
                    + "passed over",
                "{0}: 추가 {1}건, 이미 있음 {2}건, 내용이 다름 {3}건, 거부 {4}건. 건너뛴 기록 {5}건")
        case .importableEvents:
            Phrase(
                "{0}: {1} new, {2} already there, {3} there with other content, {4} rejected; {5} records passed over",
                "{0}: 새 이벤트 {1}건, 이미 있음 {2}건, 내용이 다름 {3}건, 거부 {4}건. 건너뛴 기록 {5}건")
        case .erasedOfThem: Phrase("; {0} of those already there are erased", ". 이미 있는 것 중 삭제된 것 {0}건")
        case .importedAttachments:
            Phrase(
                "{0} of {1} bytes: {2} new, {3} already there, {4} not taken",
                "{0}, {1}바이트: 새것 {2}개, 이미 있음 {3}개, 받지 않음 {4}개")
        case .wayOutOfAttachments:
            Phrase(
                "the events name these attachments all the same. With attachments.max_bytes and "
                    + "attachments.media_types that allow them, the same import brings their bytes",
                "이벤트에는 이 첨부의 이름이 남습니다. attachments.max_bytes와 attachments.media_types에서 허용한 뒤 같은 명령을 "
                    + "다시 실행하면 내용이 들어옵니다")
        case .evidenceLacks:
            Phrase(
                "origin {0}: {1} of the {2} events that the head signs: {3} are not in the file, and not here",
                "오리진 {0}: 헤드가 서명한 이벤트 {2}건 중 {1}건이 있습니다. {3}건은 파일에도 이 노드에도 없습니다")
        case .evidenceTaken: Phrase("{0}: {1} appended, {2} already there", "{0}: 추가 {1}건, 이미 있음 {2}건")
        case .evidenceHealed: Phrase(", {0} put back", ", 되돌린 것: {0}")
        case .evidenceStopped:
            Phrase(
                "interrupted; what is counted is stored and proven. Run the same command again to go on",
                "중단했습니다. 여기까지 센 것은 저장되고 증명되었습니다. 이어서 하려면 같은 명령을 다시 실행하십시오")
        default: Phrase("", "")
        }
    }
}
