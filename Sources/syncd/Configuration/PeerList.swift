internal import CommandLineKit

extension ConfigurationKind<[DaemonConfiguration.Peer]> {
    /// The value of `peers.nodes`: objects with `name`, `id` and perhaps `address`; no name and no id twice.
    static let peers = ConfigurationKind(form: .json5) { (value) throws(ConfigurationFailure) in
        guard case .array(let elements) = value.content else {
            throw ConfigurationFailure("expected an array, not \(value.kind)")
        }
        var (peers, faults) = ([DaemonConfiguration.Peer](), ConfigurationFaults())
        for element in elements {
            let read = faults.part(at: element.position) { () throws(ConfigurationFailure) in
                try PeerList.peer(element)
            }
            guard let peer = read else { continue }
            if let other = peers.first(where: { $0.name == peer.name || $0.id == peer.id }) {
                let what = other.name == peer.name ? "the name '\(peer.name)'" : "the id of '\(other.name)'"
                faults.add("\(what) stands twice", at: element.position)
            }
            peers.append(peer)
        }
        try faults.end()
        return peers
    } show: { peers in
        var array = JSONArray()
        for peer in peers {
            array.addObject { line in
                line.add("name", peer.name)
                line.add("address", peer.address?.description)
                line.add("id", peer.id)
            }
        }
        return String(decoding: array.utf8, as: UTF8.self)
    }
}

private enum PeerList {
    static func peer(_ value: JSON5Value) throws(ConfigurationFailure) -> DaemonConfiguration.Peer {
        guard case .object(let members) = value.content else {
            throw ConfigurationFailure("expected an object, not \(value.kind)", at: value.position)
        }
        var name: String?
        var address: NetworkAddress?
        var id: String?
        var faults = ConfigurationFaults()
        for member in members {
            _ = faults.part(at: member.value.position) { () throws(ConfigurationFailure) in
                switch member.name {
                case "name": name = try ConfigurationKind<String>.name.read(member.value)
                case "address": address = try ConfigurationKind.optional(.address).read(member.value)
                case "id": id = try ConfigurationKind<String>.nodeID.read(member.value)
                default: throw unknown(member)
                }
            }
        }
        if !members.contains(where: { $0.name == "name" }) {
            faults.add("this peer has no 'name'", at: value.position)
        }
        if !members.contains(where: { $0.name == "id" }) {
            faults.add("\(name.map { "peer '\($0)'" } ?? "this peer") has no 'id'", at: value.position)
        }
        try faults.end()
        guard let name, let id else { throw ConfigurationFailure("this is no peer", at: value.position) }
        return DaemonConfiguration.Peer(name: name, address: address, id: id)
    }

    private static func unknown(_ member: JSON5Value.Member) -> ConfigurationFailure {
        let nearest = Suggestion.nearest(to: member.name, among: ["name", "address", "id"])
        let question = nearest.map { "; did you mean '\($0)'?" } ?? ""
        return ConfigurationFailure("unknown key '\(member.name)'\(question)", at: member.position)
    }
}
