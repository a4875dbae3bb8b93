internal import Glibc

/// What libFuzzer calls with each input. The environment variable SILLOK_FUZZ_TARGET names the target.
@_cdecl("LLVMFuzzerTestOneInput")
package func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        fatalError("\(target.rawValue): \(error)")
    }
    return 0
}

private let target: FuzzTarget = {
    guard let name = getenv("SILLOK_FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
        fatalError("SILLOK_FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return target
}()
