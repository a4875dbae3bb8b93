import Glibc
import Testing

@testable import SyncEngine

/// What the kernel says of a line.
struct DeliveryRateTests {
    @Test("Bytes that were acknowledged give a rate; before, and where there is no TCP, none is known")
    func rates() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let caller = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { for descriptor in [listener, caller] { close(descriptor) } }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
                    && connect(caller, $0, size) == 0
            }
        }
        try #require(isConnected)
        let answerer = accept(listener, nil, nil)
        defer { close(answerer) }
        #expect(deliveryRate(of: answerer) == nil)
        var bytes = [UInt8](repeating: 7, count: 64 << 10)
        for _ in 0..<32 {
            var received = 0
            try #require(send(caller, bytes, bytes.count, 0) == bytes.count)
            while received < bytes.count {
                let count = recv(answerer, &bytes, bytes.count - received, 0)
                try #require(count > 0)
                received += count
            }
        }
        // Loopback passes more than a megabyte a second however busy the machine is, and no terabyte.
        let rate = try #require(deliveryRate(of: caller))
        #expect(rate > 1 << 20 && rate < 1 << 40)

        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { close(descriptor) } }
        #expect(deliveryRate(of: pair[0]) == nil)
        #expect(deliveryRate(of: -1) == nil)
    }
}
