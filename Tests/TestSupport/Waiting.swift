internal import Glibc

/// Waits for as long as something is so, and a minute at most: what is there soon costs nothing, and a machine that has much
/// to do gets its time. What must not be late has a limit of its own in its test.
///
/// A `for … where` with a sleep in it is no wait: it asks the question to the end of its range, also when the answer is there.
package func waitWhile(
    seconds: Int = 60, every microseconds: UInt32 = 20_000, _ condition: @autoclosure () throws -> Bool
) rethrows {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    while try condition(), clock.now < end { usleep(microseconds) }
}
