internal import Glibc

/// A time zone: how far its clocks are ahead of UTC at any instant.
package struct Zone: Sendable {
    /// Seconds east of UTC at an instant given in milliseconds since 1970.
    package let offset: @Sendable (Int64) -> Int

    /// Coordinated Universal Time.
    package static let utc = Zone { _ in 0 }

    /// A zone whose clocks never change.
    package static func fixed(seconds: Int) -> Zone {
        Zone { _ in seconds }
    }

    /// The zone of this process (`TZ`, else the machine's), from the C library.
    package static let local = Zone { milliseconds in
        var seconds = time_t(milliseconds.flooringDivision(by: 1_000))
        var broken = tm()
        // Unlike localtime, localtime_r need not look at TZ by itself (POSIX); the static's first use does it once.
        _ = zoneIsRead
        guard localtime_r(&seconds, &broken) != nil else { return 0 }
        return Int(broken.tm_gmtoff)
    }

    /// Whether `TZ` with this text names a zone: one of the system, a file, or a rule as `KST-9`. The C library takes any other
    /// text for UTC without a word.
    package static func isKnown(_ text: String, in zones: ZoneDirectory = .system) -> Bool {
        let name = text.hasPrefix(":") ? String(text.dropFirst()) : text
        if name.isEmpty || name == "UTC" || name.hasPrefix("/") && access(name, R_OK) == 0 { return true }
        return zones.zone(named: name) != nil || ZoneRule(name) != nil
    }

    private static let zoneIsRead: Bool = {
        tzset()
        return true
    }()

    /// The instant at which clocks here show `civil`.
    ///
    /// When clocks go back and show it twice, the first time is meant; when they jump over it, the time as if they had
    /// not jumped yet. Both are what RFC 5545 §3.3.5 asks of calendars.
    package func instant(of civil: CivilTime) -> Int64 {
        let naive = civil.milliseconds
        let before = Int64(offset(naive - CivilTime.dayLength)) * 1_000
        let after = Int64(offset(naive + CivilTime.dayLength)) * 1_000
        for candidate in [naive - before, naive - after]
        where Int64(offset(candidate)) * 1_000 == naive - candidate {
            return candidate
        }
        return naive - before
    }

    /// The second instant at which clocks here show what they show at this one, if they go back in between.
    package func again(_ milliseconds: Int64) -> Int64? {
        let (first, second) = (offset(milliseconds), offset(milliseconds + CivilTime.dayLength))
        let later = milliseconds + Int64(first - second) * 1_000
        return second < first && offset(later) == second ? later : nil
    }

    /// What clocks here show at an instant.
    package func civil(at milliseconds: Int64) -> CivilTime {
        let shifted = milliseconds.addingReportingOverflow(Int64(offset(milliseconds)) * 1_000)
        return CivilTime(milliseconds: shifted.overflow ? milliseconds : shifted.partialValue)
    }
}
