/// How deep arrays and objects stand in each other.
package enum JSONDepth {
    /// Deeper ones are refused.
    package static let most = 64
}
