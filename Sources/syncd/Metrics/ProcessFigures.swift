internal import Glibc

/// What the kernel says of this process: of /proc/self alone, which is there in the tightest of units.
struct ProcessFigures {
    /// Bytes in memory.
    private(set) var resident: UInt64 = 0
    /// Seconds of processor time.
    private(set) var processor = 0.0
    private(set) var descriptors = 0

    init() {
        if let file = fopen("/proc/self/statm", "re") {
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 128)
            if fgets(&line, Int32(line.count), file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                let fields = text.split(separator: " ")
                if fields.count > 1 { resident = (UInt64(fields[1]) ?? 0) * UInt64(getpagesize()) }
            }
        }
        var time = timespec()
        if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 {
            processor = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        if let listing = opendir("/proc/self/fd") {
            defer { closedir(listing) }
            while readdir(listing) != nil { descriptors += 1 }
            // Itself, its parent, and the listing.
            descriptors = max(0, descriptors - 3)
        }
    }
}
