import COpenSSL
import Testing

@testable import SyncEngine

/// What a thief of a certificate can build: a context that shows the victim's public key but holds another private
/// key. OpenSSL refuses such a pair, so the certificate is changed after the context has accepted it.
enum ForgedIdentity {
    static func context(victim: UInt8, own: UInt8) throws -> TLSContext {
        let victim = try TLSIdentity(privateKeyPEM: TestKeys.ed25519(victim))
        let thief = try TLSContext(identity: TLSIdentity(privateKeyPEM: TestKeys.ed25519(own)))
        try #require(X509_set_pubkey(thief.identity.certificate, victim.key) == 1)
        try #require(X509_sign(thief.identity.certificate, thief.identity.key, nil) > 0)
        try #require(publicKeyDigest(of: thief.identity.certificate) == victim.nodeID)
        return thief
    }
}
