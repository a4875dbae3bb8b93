internal import Access
internal import CommandLineKit

extension ConfigurationKind<[DaemonConfiguration.SocketGrant]> {
    /// The value of `api.socket.roles`: `{"group:support":["auditor"],"uid:1001":["bot:medibot"]}`.
    static let socketRoles = ConfigurationKind(form: .json5) { (value) throws(ConfigurationFailure) in
        guard case .object(let members) = value.content else {
            throw ConfigurationFailure("expected an object, not \(value.kind)")
        }
        var (grants, faults) = ([DaemonConfiguration.SocketGrant](), ConfigurationFaults())
        for member in members {
            let holder = DaemonConfiguration.SocketGrant.Holder(text: member.name)
            if holder == nil {
                faults.add(
                    "'\(member.name)' names no one; write uid:<number>, user:<name> or group:<name>",
                    at: member.position)
            }
            let roles = faults.part(at: member.value.position) { () throws(ConfigurationFailure) in
                try RoleList.read(member.value)
            }
            if let holder, let roles {
                grants.append(DaemonConfiguration.SocketGrant(holder: holder, roles: roles))
            }
        }
        try faults.end()
        return grants
    } show: { grants in
        let members = grants.map { grant in
            let roles = grant.roles.map(\.text).sorted().map(ConfigurationText.quoted).joined(separator: ",")
            return "\(ConfigurationText.quoted(grant.holder.text)):[\(roles)]"
        }
        return "{\(members.joined(separator: ","))}"
    }
}

enum RoleList {
    /// What a list of roles names.
    static func read(_ value: JSON5Value) throws(ConfigurationFailure) -> Set<Role> {
        guard case .array(let elements) = value.content else {
            throw ConfigurationFailure("expected an array of roles, not \(value.kind)")
        }
        var (roles, faults) = (Set<Role>(), ConfigurationFaults())
        for element in elements {
            if case .string(let text) = element.content, let role = Role(text: text) {
                roles.insert(role)
            } else {
                faults.add("a role is \(Role.forms)", at: element.position)
            }
        }
        try faults.end()
        return roles
    }
}

extension DaemonConfiguration {
    /// What those may do who come over the socket as a user or with a group.
    struct SocketGrant: Sendable, Equatable {
        enum Holder: Sendable, Equatable {
            case uid(UInt32)
            case user(String)
            case group(String)

            init?(text: String) {
                guard let colon = text.firstIndex(of: ":") else { return nil }
                let name = String(text[text.index(after: colon)...])
                guard !name.isEmpty else { return nil }
                switch text[..<colon] {
                case "uid":
                    // As the kernel's number is written: other forms would be others of the same user.
                    guard let uid = UInt32(name), String(uid) == name else { return nil }
                    self = .uid(uid)
                case "user": self = .user(name)
                case "group": self = .group(name)
                default: return nil
                }
            }

            var text: String {
                switch self {
                case .uid(let uid): "uid:\(uid)"
                case .user(let name): "user:\(name)"
                case .group(let name): "group:\(name)"
                }
            }
        }

        let holder: Holder
        let roles: Set<Role>
    }
}
