internal import CommandLineKit
internal import Glibc

/// What the zone of this process is named.
enum SystemZone {
    /// `Asia/Seoul`: by `TZ`, else by what /etc/localtime is a link to; `nil` where neither names a zone.
    static func name(_ environment: [String: String]) -> String? {
        if let text = environment["TZ"], !text.isEmpty {
            let name = text.hasPrefix(":") ? String(text.dropFirst()) : text
            return name == "UTC" || ZoneDirectory.system.zone(named: name) != nil ? name : nil
        }
        var buffer = [CChar](repeating: 0, count: 512)
        let count = readlink("/etc/localtime", &buffer, buffer.count)
        guard count > 0 else { return nil }
        let target = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let folder = target.firstRange(of: "zoneinfo/") else { return nil }
        return String(target[folder.upperBound...])
    }
}
