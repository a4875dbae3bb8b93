internal import CommandLineKit
internal import Interchange

/// What stands in a package's README, in both languages.
enum SubjectReadme {
    static func text(_ head: SubjectPage.Head, _ report: SubjectPackage.Report, _ proofs: [String]) -> String {
        korean(head, report, proofs) + "\n---\n\n" + english(head, report, proofs)
    }

    /// Text of strangers within a line of Markdown: as code, with nothing that ends it.
    private static func code(_ text: String) -> String {
        "`" + Sanitizer.line(text).replacing(scalar: "`", with: "'") + "`"
    }

    private static func checks(_ proofs: [String]) -> String {
        proofs.prefix(20).map {
            "    syncctl check-proof \($0)\n    python3 verify.py --proof \($0)\n"
        }.joined()
    }

    private static func korean(
        _ head: SubjectPage.Head, _ report: SubjectPackage.Report, _ proofs: [String]
    ) -> String {
        """
        # \(code(head.user))의 데이터

        \(code(head.node)) 노드에 보관된 이 사용자의 데이터입니다. 요청: \(code(head.who)), 사유: \(code(head.reason)).
        요청과 제공은 이벤트 \(code(head.record))로 기록했습니다. 로그의 위치 \(head.position)까지 담았습니다.

        | 파일 | 내용 |
        | --- | --- |
        | `index.ko.html`, `index.en.html` | 먼저 볼 것: 프로필, 대화 목록, 열람한 사람. 브라우저로 열며 네트워크를 쓰지 않습니다 |
        | `conversations/` | 대화마다 한 쪽. 수정과 회수 전의 내용도 있습니다 |
        | `events.ndjson` | 저장된 그대로의 이벤트: 본인 이력 \(report.events)건, 다른 이력에 쓴 것\(head.isFull ? "과 본인을 가리키는 것" : "") \(report.elsewhere)건 |
        | `events.csv` | 같은 이벤트를 스프레드시트에서 볼 파일 |
        | `context.ndjson` | 같은 대화에서 다른 사람이 한 일과 본인을 연락처에 둔 기록 \(report.context)건\(head.isFull ? "" : ". 내용은 그 사람의 데이터이므로 뺐습니다(`left_out`). 본인을 가리키는 것은 `names_person`") |
        | `attachments.ndjson`, `attachments/` | 본인 이력의 첨부와 그 내용. 파일 이름은 SHA-256입니다. 첨부가 없으면 이 둘도 없습니다 |
        | `readers.ndjson` | 기록된 열람 \(report.reads)건: 누가, 언제, 왜 |
        | `proofs/` | 이벤트가 서명된 기록의 일부임을 증명하는 파일 |
        | `SHA256SUMS` | 모든 파일의 SHA-256 |

        ## 확인 방법

        폴더가 만든 그대로인지 확인합니다.

            sha256sum -c SHA256SUMS

        이벤트가 노드가 서명한 기록에 있는지 확인합니다. 프로그램이 없어도 됩니다. 두 번째 줄은 배포판의 `Scripts/verify.py`(파이썬)이며,
        같은 폴더에 배포판의 `Scripts/sillok_verify` 폴더가 있어야 합니다.

        \(checks(proofs))
        증명 파일에는 이벤트의 헤더, 솔트, 내용, 머클 경로, 서명된 헤드가 있습니다. `history.proof`의 마지막 줄은 노드가 서명하므로, 나중에 이벤트를
        빼면 드러납니다. 삭제된 이벤트는 헤더만 남아 있습니다. 증명 파일이 없는 이벤트: \(report.unproven)건.

        """
    }

    private static func english(
        _ head: SubjectPage.Head, _ report: SubjectPackage.Report, _ proofs: [String]
    ) -> String {
        """
        # Data of \(code(head.user))

        All that the node \(code(head.node)) keeps of this user. Asked for by \(code(head.who)), because of \(code(head.reason)).
        Asking and giving are recorded as event \(code(head.record)). It has all of the log up to position \(head.position).

        | file | what is in it |
        | --- | --- |
        | `index.ko.html`, `index.en.html` | to look at first: the profile, the conversations, who has looked. For a browser; nothing is loaded |
        | `conversations/` | a page for each conversation, with what stood there before it was edited or taken back |
        | `events.ndjson` | events as they are stored: \(report.events) of the own history, \(report.elsewhere) written elsewhere\(head.isFull ? " or naming the person" : "") |
        | `events.csv` | the same for a spreadsheet |
        | `context.ndjson` | \(report.context) things that others have done in the same conversations, and by which they keep the person as a contact\(head.isFull ? "" : "; what they have said is theirs, and left out (`left_out`); `names_person`: it names the person") |
        | `attachments.ndjson`, `attachments/` | attachments of the user's history, and their bytes under their SHA-256; neither is there without any |
        | `readers.ndjson` | \(report.reads) reads that were recorded: who, when and why |
        | `proofs/` | what proves that the events are part of the signed record |
        | `SHA256SUMS` | SHA-256 of every file |

        ## How to check it

        Whether the folder is as it was made:

            sha256sum -c SHA256SUMS

        Whether the events are part of what the node has signed. The second line of each is `Scripts/verify.py` of the distribution, which needs
        none of its programs, and the folder `Scripts/sillok_verify` beside it:

        \(checks(proofs))
        A proof has header, salt and payload of each event, its Merkle path, and the signed heads. The last line of `history.proof` is signed by
        the node: an event that is taken out later is missed. Of erased events the header is left. Events without a proof: \(report.unproven).

        """
    }
}
