/// What this program calls itself, to people and to peers.
enum Software {
    static let version = "0.1.0"
    static let name = "syncd \(version)"
}
