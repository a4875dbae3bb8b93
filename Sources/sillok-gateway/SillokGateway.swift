internal import CommandLineKit
internal import EventStore
internal import GatewayKit
internal import Glibc
internal import SyncEngine

/// The gateway's command line.
enum SillokGateway {
    static let version = "0.1.0"

    private static let common: [Command.Option] = [
        .value("config", "FILE", "The configuration, JSON5: docs/operating/gateway.md has every key."),
        .value("data", "FILE", "The stations (default: data of the configuration)."),
        .value("url", "URL", "The node: unix:PATH, http:// or https:// (default: api.url of the configuration)."),
        .value("socket", "PATH", "The node's Unix socket: short for --url unix:PATH."),
        .value("token-file", "FILE", "The token to show it (default: api.token_file of the configuration)."),
    ]

    static let table = {
        var table = CommandTable(
            program: "sillok-gateway",
            summary: "answers lines of text over TCP, and keeps each question with its answer in an event store",
            commands: [
                Command(
                    "run", "answer until SIGTERM or SIGINT",
                    options: common + [
                        .value("listen", "HOST:PORT", "Where riders' programs connect; port 0 takes any."),
                        .value("web", "HOST:PORT", "Where the page /arrive/ is; without it there is none."),
                        .value(
                            "reply-end", "TEXT",
                            "What follows an answer: nothing, as clients of old expect, ';' or '\\n'."),
                    ],
                    examples: [
                        .init(
                            "sillok-gateway run --data Examples/arrive/transit.json5 --socket syncd-dev/api.sock --listen 127.0.0.1:7700",
                            "a first try beside syncd --dev"),
                        .init("sillok-gateway run --config /etc/sillok-gateway/arrive.json5", "a service"),
                    ]),
                Command(
                    "check", "say what is wrong with a data file, or with all that a gateway needs",
                    arguments: [
                        .init("file", "A data file; with --config it may be left out.", count: .optional)
                    ],
                    options: common + [.flag("json", "One JSON object a line, the last one of type 'end'.")],
                    examples: [
                        .init("sillok-gateway check transit.json5", "each wrong row with its line and the reason"),
                        .init("sillok-gateway check --config arrive.json5", "configuration, data, node and token"),
                    ],
                    discussion: "Nothing is stored, and no address is listened at."),
            ], globalOptions: [.flag("version", "Print the version, and end.")])
        table.korean = korean
        return table
    }()

    private static let chapters = [
        ManualChapter(
            "FILES",
            [
                ("/etc/sillok-gateway/NAME.json5", "The configuration of the unit sillok-gateway@NAME."),
                ("data", "Cities, lines and stations, as rows of three tables. It is read at the start."),
            ])
    ]

    static func main() -> Never {
        ProgramStart.main("sillok-gateway", version: version, table, chapters: chapters) {
            arguments, output throws(CommandFailure) in
            if arguments.command.name == "check" {
                var check = Check(arguments, output)
                return try check.run()
            }
            return try Gateway(configuration(arguments)).run()
        }
    }

    /// The configuration's file, and what the command line says beyond it.
    static func configuration(_ arguments: ParsedArguments) throws(CommandFailure) -> GatewayConfiguration {
        var configuration: GatewayConfiguration
        if let path = arguments.value("config") {
            configuration = try GatewayConfiguration.read(path)
        } else if let data = arguments.value("data") {
            configuration = GatewayConfiguration(data: data)
        } else {
            throw CommandFailure(
                code: "E_USAGE", "--config is missing", hint: "--config FILE, or --data FILE for a first try",
                exitCode: .usage)
        }
        if let data = arguments.value("data") { configuration.data = data }
        if let socket = arguments.value("socket") { configuration.node.url = "unix:" + socket }
        if let url = arguments.value("url") { configuration.node.url = url }
        if let file = arguments.value("token-file") { configuration.node.tokenFile = file }
        guard arguments.command.name == "run" else { return configuration }
        if let text = arguments.value("listen") { configuration.listen = try address("listen", text) }
        if let text = arguments.value("web") { configuration.web = try address("web", text) }
        if let end = arguments.value("reply-end") {
            guard end.utf8.count <= 4 else {
                throw CommandFailure(code: "E_USAGE", "--reply-end has 4 bytes at most", exitCode: .usage)
            }
            configuration.replyEnd = end == "\\n" ? "\n" : end
        }
        return configuration
    }

    private static func address(
        _ name: String, _ text: String
    ) throws(CommandFailure) -> GatewayConfiguration.Address {
        guard let address = GatewayConfiguration.Address(text: text) else {
            throw CommandFailure(
                code: "E_USAGE", "--\(name): '\(text)' is no address", hint: "--\(name) 127.0.0.1:7700",
                exitCode: .usage)
        }
        return address
    }

    private static let korean = [
        "answers lines of text over TCP, and keeps each question with its answer in an event store":
            "TCP로 온 한 줄짜리 질문에 답하고, 질문과 답을 함께 이벤트 저장소에 남깁니다",
        "answer until SIGTERM or SIGINT": "SIGTERM이나 SIGINT가 올 때까지 답합니다",
        "say what is wrong with a data file, or with all that a gateway needs":
            "자료 파일이나 게이트웨이에 필요한 모든 것에서 틀린 곳을 말합니다",
        "The configuration, JSON5: docs/operating/gateway.md has every key.":
            "설정 파일(JSON5). 모든 항목은 docs/operating/gateway.md에 있습니다.",
        "The stations (default: data of the configuration).": "역 자료 파일(기본값: 설정의 data).",
        "The node: unix:PATH, http:// or https:// (default: api.url of the configuration).":
            "노드: unix:경로, http:// 또는 https:// (기본값: 설정의 api.url).",
        "The node's Unix socket: short for --url unix:PATH.": "노드의 유닉스 소켓. --url unix:경로와 같습니다.",
        "The token to show it (default: api.token_file of the configuration).":
            "노드에 보일 토큰 파일(기본값: 설정의 api.token_file).",
        "Where riders' programs connect; port 0 takes any.": "승객의 프로그램이 접속할 주소. 포트 0은 빈 포트를 고릅니다.",
        "Where the page /arrive/ is; without it there is none.": "/arrive/ 화면의 주소. 없으면 화면도 없습니다.",
        "What follows an answer: nothing, as clients of old expect, ';' or '\\n'.":
            "답 뒤에 붙일 것. 예전 클라이언트처럼 없음, ';' 또는 '\\n'.",
        "A data file; with --config it may be left out.": "자료 파일. --config가 있으면 생략할 수 있습니다.",
        "One JSON object a line, the last one of type 'end'.": "한 줄에 JSON 객체 하나. 마지막 줄의 type은 'end'입니다.",
        "Print the version, and end.": "버전을 출력하고 끝냅니다.",
        "Nothing is stored, and no address is listened at.": "아무것도 저장하지 않고, 어떤 주소에서도 듣지 않습니다.",
        "a first try beside syncd --dev": "syncd --dev 옆에서 처음 해 보기",
        "a service": "서비스로 실행",
        "each wrong row with its line and the reason": "틀린 행마다 줄 번호와 까닭",
        "configuration, data, node and token": "설정, 자료, 노드, 토큰",
    ]
}
