package import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// A file with one secret in it: a token, or a key.
package struct CredentialFile: Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// Whether others than its owner can read it. Of a pipe that holds for no one.
    package var isOpen: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_mode & 0o077 != 0
    }

    /// The secret; blanks and line ends around it are passed over.
    ///
    /// - Parameters:
    ///   - name: What it is: "a token".
    ///   - hint: How one comes by such a file.
    package func secret(_ name: String, hint: String) throws(CommandFailure) -> String {
        let bytes: [UInt8]?
        do throws(StoreError) { bytes = try SmallFile.read(path, .stream) } catch {
            guard case .badFile = error else { throw CommandFailure(error) }
            throw CommandFailure(
                code: "E_NOT_A_FILE", "\(path) is no file with \(name) in it", hint: hint, exitCode: .inputMissing)
        }
        guard let bytes else {
            throw CommandFailure(code: "E_IO", "there is no file \(path)", hint: hint, exitCode: .inputMissing)
        }
        let text = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard text.count == 1, let secret = text.first else {
            throw CommandFailure(
                code: "E_USAGE", "\(path) does not hold \(name), and nothing else", exitCode: .usage)
        }
        return String(secret)
    }
}

/// A PEM file with the certificates of authorities.
package struct AuthoritiesFile: Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// Whether a certificate is in it. Of one without any the library would only say that the node cannot be reached.
    package func hasCertificate() throws(CommandFailure) -> Bool {
        let bytes: [UInt8]?
        do throws(StoreError) { bytes = try SmallFile.read(path) } catch {
            guard case .unsafe = error else { throw CommandFailure(error) }
            throw CommandFailure(
                code: "E_NOT_A_FILE", "\(path) is no file with certificates in it",
                hint: "name a file with certificates, as PEM", exitCode: .inputMissing)
        }
        guard let bytes else {
            throw CommandFailure(
                code: "E_IO", "there is no file \(path)", hint: "name a file with certificates, as PEM",
                exitCode: .inputMissing)
        }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).contains { line in
            line.hasPrefix("-----BEGIN ") && line.contains("CERTIFICATE-----")
        }
    }

    /// Refuses, in a configuration, a file without one.
    package func requireCertificate() throws(CommandFailure) {
        guard try !hasCertificate() else { return }
        throw CommandFailure(
            code: "E_CONFIG", "no certificate is in \(path)", hint: "name a file with certificates, as PEM",
            exitCode: .configuration)
    }
}

extension NodePlace.Address {
    /// `unix:<path>`, `http://host:port` or `https://host:port`; `nil` for anything else.
    package init?(text: String) {
        if text.hasPrefix("unix:") {
            self = .socket(String(text.dropFirst("unix:".count)))
        } else if text.hasPrefix("http://") || text.hasPrefix("https://") {
            self = .url(text.hasSuffix("/") ? String(text.dropLast()) : text)
        } else {
            return nil
        }
    }

    /// Whether a secret sent there would go over a network without encryption.
    package var isOpenToOthers: Bool {
        guard case .url(let url) = self, url.hasPrefix("http://") else { return false }
        let host = url.dropFirst("http://".count)
        return !["127.", "localhost", "[::1]"].contains { host.hasPrefix($0) }
    }
}
