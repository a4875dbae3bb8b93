package import EventStore

/// The peers that were added with `syncctl`: state of the store, beside those of the daemon's configuration.
/// `{"peers":[{"name":…,"node":"<64 hex digits>","address":"host:port","paused":true,"token":"<32 hex digits>"}]}`
package enum PeersFile {
    package static func load(_ files: StoreFiles) throws(StoreError) -> [Peer] {
        guard let bytes = try SmallFile.read(files.peers) else { return [] }
        let object: JSONObject
        do { object = try JSONObject(validating: bytes) } catch { throw unusable(files, "\(error)") }
        guard let elements = object.elements("peers") else { throw unusable(files, "no list 'peers'") }
        var peers: [Peer] = []
        for element in elements {
            guard let peer = element.object, let name = peer.string("name"),
                let node = peer.string("node").flatMap({ NodeID(text: $0) })
            else { throw unusable(files, "a peer without name or node") }
            peers.append(
                Peer(
                    name: name, node: node, address: peer.string("address"), isPaused: peer.bool("paused") ?? false,
                    token: peer.string("token").flatMap { hexBytes($0) }))
        }
        return peers
    }

    private static func unusable(_ files: StoreFiles, _ why: String) -> StoreError {
        .badFile(
            "\(files.peers) cannot be read: \(why)",
            wayOut:
                "bring it back from a backup, mend it, or move it away and name the peers again: syncctl peers add")
    }

    package static func save(_ peers: [Peer], _ files: StoreFiles) throws(StoreError) {
        var out = Array("{\"peers\":[".utf8)
        for (index, peer) in peers.enumerated() {
            out.append(contentsOf: (index == 0 ? "\n" : ",\n").utf8)
            out.append(contentsOf: "{\"name\":".utf8)
            JSONText.append(peer.name, to: &out)
            out.append(contentsOf: ",\"node\":\"\(peer.node)\"".utf8)
            if let address = peer.address {
                out.append(contentsOf: ",\"address\":".utf8)
                JSONText.append(address, to: &out)
            }
            if peer.isPaused { out.append(contentsOf: ",\"paused\":true".utf8) }
            if let token = peer.token { out.append(contentsOf: ",\"token\":\"\(hexText(token))\"".utf8) }
            out.append(UInt8(ascii: "}"))
        }
        out.append(contentsOf: "\n]}\n".utf8)
        try SmallFile.replace(files.peers, with: out, mode: 0o600)
    }
}
