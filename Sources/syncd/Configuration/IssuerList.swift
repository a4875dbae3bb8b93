internal import Access
internal import CommandLineKit
internal import EventStore

extension ConfigurationKind<[DaemonConfiguration.Issuer]> {
    /// The value of `api.jwt`: objects with `name`, `issuer`, `audience`, `jwks_file`, and `uid`, `roles_claim`, `allow` where tokens
    /// say who a user is, or what a holder may do.
    static let issuers = ConfigurationKind(form: .json5) { (value) throws(ConfigurationFailure) in
        guard case .array(let elements) = value.content else {
            throw ConfigurationFailure("expected an array, not \(value.kind)")
        }
        var (issuers, faults) = ([DaemonConfiguration.Issuer](), ConfigurationFaults())
        for element in elements {
            let read = faults.part(at: element.position) { () throws(ConfigurationFailure) in
                try IssuerList.issuer(element)
            }
            guard let issuer = read else { continue }
            let rules = issuer.rules
            let isTwice = issuers.contains { other in
                other.rules.name == rules.name
                    || other.rules.issuer == rules.issuer && other.rules.audience == rules.audience
            }
            if isTwice {
                faults.add(
                    "'\(rules.name)' has the name, or the issuer and audience, of one before it", at: element.position
                )
            }
            issuers.append(issuer)
        }
        try faults.end()
        return issuers
    } show: { issuers in
        var array = JSONArray()
        for issuer in issuers {
            array.addObject { line in
                line.add("name", issuer.rules.name)
                line.add("issuer", issuer.rules.issuer)
                line.add("audience", issuer.rules.audience)
                line.add("jwks_file", issuer.keys)
                line.add("uid", issuer.rules.user?.text)
                line.add("roles_claim", issuer.rules.rolesClaim)
                line.add("allow", issuer.rules.allowed.map(\.text).sorted())
            }
        }
        return String(decoding: array.utf8, as: UTF8.self)
    }
}

private enum IssuerList {
    private static let names = ["name", "issuer", "audience", "jwks_file", "uid", "roles_claim", "allow"]

    static func issuer(_ value: JSON5Value) throws(ConfigurationFailure) -> DaemonConfiguration.Issuer {
        guard case .object(let members) = value.content else {
            throw ConfigurationFailure("expected an object, not \(value.kind)", at: value.position)
        }
        var texts: [String: String] = [:]
        var user: TokenIssuer.SubjectForm?
        var allowed: Set<Role> = []
        var faults = ConfigurationFaults()
        for member in members {
            _ = faults.part(at: member.value.position) { () throws(ConfigurationFailure) in
                switch member.name {
                case "name": texts["name"] = try name(member.value)
                case "jwks_file": texts["jwks_file"] = try ConfigurationKind<String>.path.read(member.value)
                case "issuer", "audience": texts[member.name] = try filled(member.value)
                case "roles_claim":
                    texts[member.name] = try ConfigurationKind.optional(.string).read(member.value)
                case "uid": user = try subject(member.value)
                case "allow": allowed = try roles(member.value)
                default: throw unknown(member)
                }
            }
        }
        for name in ["name", "issuer", "audience", "jwks_file"] where !members.contains(where: { $0.name == name }) {
            faults.add("this provider has no '\(name)'", at: value.position)
        }
        if !allowed.isEmpty, !members.contains(where: { $0.name == "roles_claim" && $0.value.content != .null }) {
            faults.add("'allow' has no effect without 'roles_claim'", at: value.position)
        }
        try faults.end()
        guard let name = texts["name"], let issuer = texts["issuer"], let audience = texts["audience"],
            let keys = texts["jwks_file"]
        else { throw ConfigurationFailure("this is no provider", at: value.position) }
        let rules = TokenIssuer(
            name: name, issuer: issuer, audience: audience, user: user, rolesClaim: texts["roles_claim"],
            allowed: allowed)
        return DaemonConfiguration.Issuer(rules: rules, keys: keys)
    }

    /// It stands behind the last colon of an actor.
    private static func name(_ value: JSON5Value) throws(ConfigurationFailure) -> String {
        let name = try ConfigurationKind<String>.name.read(value)
        guard EventActor(.jwt, principal: "x", credential: name) != nil else {
            throw ConfigurationFailure("'\(name)' has a colon, which parts the members of an actor")
        }
        return name
    }

    private static func filled(_ value: JSON5Value) throws(ConfigurationFailure) -> String {
        let text = try ConfigurationKind<String>.string.read(value)
        guard !text.isEmpty else { throw ConfigurationFailure("it is empty") }
        return text
    }

    private static func subject(_ value: JSON5Value) throws(ConfigurationFailure) -> TokenIssuer.SubjectForm? {
        guard let text = try ConfigurationKind.optional(.string).read(value) else { return nil }
        guard let form = TokenIssuer.SubjectForm(text) else {
            throw ConfigurationFailure("'\(text)' names no claim; write it in braces, like \"{sub}\"")
        }
        return form
    }

    private static func roles(_ value: JSON5Value) throws(ConfigurationFailure) -> Set<Role> {
        let roles = try RoleList.read(value)
        guard !roles.contains(.admin) else {
            throw ConfigurationFailure("no token of another gives 'admin'; 'syncctl tokens create' does")
        }
        return roles
    }

    private static func unknown(_ member: JSON5Value.Member) -> ConfigurationFailure {
        let nearest = Suggestion.nearest(to: member.name, among: names)
        let question = nearest.map { "; did you mean '\($0)'?" } ?? ""
        return ConfigurationFailure("unknown key '\(member.name)'\(question)", at: member.position)
    }
}

extension DaemonConfiguration {
    /// An identity provider whose tokens count.
    struct Issuer: Sendable, Equatable {
        let rules: TokenIssuer
        /// The file of its public keys.
        let keys: String
    }
}
