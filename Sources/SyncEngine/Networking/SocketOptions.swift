internal import CLinux
internal import Glibc

/// Settings of a peer connection; a socket that is not TCP (in tests) ignores them.
///
/// Without them the kernel keeps a dead peer for 8 to 15 minutes, and up to megabytes of data in front of a control
/// frame (the `TCP_NOTSENT_LOWAT` of `unsentBytes`).
func setLinkOptions(_ descriptor: Int32, unsentBytes: Int) {
    let tcp = tcpLevel
    setOption(descriptor, tcp, TCP_NODELAY, 1)
    setOption(descriptor, tcp, TCP_NOTSENT_LOWAT, Int32(clamping: unsentBytes))
    setOption(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
    setOption(descriptor, tcp, TCP_KEEPIDLE, 15)
    setOption(descriptor, tcp, TCP_KEEPINTVL, 5)
    setOption(descriptor, tcp, TCP_KEEPCNT, 3)
    setOption(descriptor, tcp, TCP_USER_TIMEOUT, 30_000)
}

/// Sets an integer option. Failure is ignored: each of ours is an improvement, none a condition.
func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
    var value = value
    _ = setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
}

/// IPPROTO_TCP by its number (RFC 9293): the name belongs to whichever C module is read first.
let tcpLevel: Int32 = 6

/// Bytes a second that a TCP connection has lately passed, as the kernel measures it when data are acknowledged (Cheng and
/// Cardwell, draft-cheng-iccrg-delivery-rate-estimation); `nil` if nothing was sent yet, or if it is not TCP.
func deliveryRate(of descriptor: Int32) -> UInt64? {
    let rate = UInt64(sillok_delivery_rate(descriptor))
    return rate > 0 ? rate : nil
}
