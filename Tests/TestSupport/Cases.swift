import Foundation

/// How many of many equal cases a test tries: `all` where `SILLOK_THOROUGH` is set, as `make soak` does; else `few`, for they are proven and slow.
package func cases(_ few: Int, of all: Int) -> Int {
    ProcessInfo.processInfo.environment["SILLOK_THOROUGH"] == nil ? few : all
}
