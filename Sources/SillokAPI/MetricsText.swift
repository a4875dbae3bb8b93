package import EventStore
internal import Glibc

/// Writes metrics as Prometheus reads them.
package struct MetricsText {
    package typealias Labels = [(name: String, value: String)]
    package typealias Sample = (labels: Labels, value: Double)

    /// The two formats that Prometheus knows.
    package enum Form {
        /// Version 0.0.4.
        case plain
        /// OpenMetrics 1.0.
        case open

        /// What a reader asks for with `Accept`: the old one, unless it names the other.
        package init(accept: String?) {
            let kinds = accept?.lowercased().split(separator: ",") ?? []
            let names = kinds.map { $0.prefix { $0 != ";" }.filter { $0 != " " } }
            self = names.contains("application/openmetrics-text") ? .open : .plain
        }

        package var contentType: String {
            switch self {
            case .plain: "text/plain; version=0.0.4; charset=utf-8"
            case .open: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }
    }

    private let form: Form
    package private(set) var bytes: [UInt8] = []

    package init(_ form: Form) { self.form = form }

    /// A value that goes up and down. Without samples it is left out.
    package mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) {
        guard !samples.isEmpty else { return }
        head(name, help, "gauge")
        for sample in samples { line(name, sample.labels, Self.number(sample.value)) }
    }

    package mutating func gauge(_ name: String, _ help: String, _ value: some BinaryInteger) {
        gauge(name, help, [([], Double(value))])
    }

    /// A value that grows until the process ends. `name` without `_total`.
    package mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
        guard !samples.isEmpty else { return }
        head(form == .open ? name : name + "_total", help, "counter")
        for sample in samples { line(name + "_total", sample.labels, Self.number(sample.value)) }
    }

    package mutating func counter(_ name: String, _ help: String, _ value: some BinaryInteger) {
        counter(name, help, [([], Double(value))])
    }

    /// How long something takes.
    package mutating func histogram(
        _ name: String, _ help: String, _ series: [(labels: Labels, times: DurationHistogram)]
    ) {
        guard !series.isEmpty else { return }
        head(name, help, "histogram")
        for (labels, times) in series {
            var count: UInt64 = 0
            for (index, some) in times.counts.enumerated() {
                count &+= some
                let bound =
                    index < DurationHistogram.bounds.count
                    ? Self.seconds(DurationHistogram.bounds[index], form) : "+Inf"
                line(name + "_bucket", labels + [("le", bound)], "\(count)")
            }
            line(name + "_sum", labels, "\(Double(times.sum) / 1e9)")
            line(name + "_count", labels, "\(count)")
        }
    }

    /// Nothing comes behind it.
    package mutating func end() {
        if form == .open { bytes += "# EOF\n".utf8 }
    }

    /// Writes them into a file, which is whole at every moment.
    package func write(to path: String) -> Bool {
        let beside = path + ".new"
        guard let file = fopen(beside, "w") else { return false }
        let isWritten = bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) } == bytes.count
        guard fclose(file) == 0, isWritten else { return false }
        return rename(beside, path) == 0
    }

    private mutating func head(_ name: String, _ help: String, _ type: String) {
        bytes += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n".utf8
    }

    private mutating func line(_ name: String, _ labels: Labels, _ value: String) {
        let labels = labels.map { #"\#($0.name)="\#(Self.escape($0.value))""# }
        let braces = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
        bytes += "\(name)\(braces) \(value)\n".utf8
    }

    private static func number(_ value: Double) -> String {
        value.rounded() == value && value.magnitude < 9e15 ? "\(Int64(value))" : "\(value)"
    }

    /// A bound. OpenMetrics wants a point in each; in the older format none is usual for whole numbers.
    private static func seconds(_ nanoseconds: UInt64, _ form: Form) -> String {
        let value = Double(nanoseconds) / 1e9
        return form == .open ? "\(value)" : number(value)
    }

    private static func escape(_ value: String) -> String {
        var out = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": out += #"\\"#
            case "\"": out += #"\""#
            case "\n": out += #"\n"#
            default: out.unicodeScalars.append(character)
            }
        }
        return out
    }
}
