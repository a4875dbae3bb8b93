/// Cities, their lines and stations: what the gateway answers from. Names are compared as Unicode does, composed or not.
package struct Transit: Equatable, Sendable {
    package struct Station: Equatable, Sendable {
        package let name: String
        /// Minutes from a station in the middle, less than 0 before it.
        package let minutes: Int
    }

    package struct Line: Equatable, Sendable {
        package let name: String
        package let stations: [Station]
    }

    package struct City: Equatable, Sendable {
        package let name: String
        package let lines: [Line]
    }

    /// In the order in which they are offered.
    package let cities: [City]

    package init(cities: [City]) { self.cities = cities }

    package var stationCount: Int { cities.flatMap(\.lines).flatMap(\.stations).count }
    package var lineCount: Int { cities.flatMap(\.lines).count }

    /// So many stations before the goal it rings.
    private static let stops = 2

    package func answer(_ request: TripRequest) -> TripAnswer {
        do throws(TripFault) { return try answer(try request.question.get()) } catch { return .refused(error) }
    }

    private func answer(_ question: TripRequest.Question) throws(TripFault) -> TripAnswer {
        switch question {
        case .lines(let city): return .lines(try found(city).lines.map(\.name))
        case .stations(let city, let line): return .stations(try found(line, in: city).stations.map(\.name))
        case .alarm(let city, let line, let from, let to):
            let stations = try found(line, in: city).stations
            guard let start = stations.firstIndex(where: { $0.name == from }),
                let end = stations.firstIndex(where: { $0.name == to })
            else { throw .unknownStation }
            guard (end - start).magnitude > Self.stops else { return .near }
            let alarm = stations[end > start ? end - Self.stops : end + Self.stops]
            return .alarm(station: alarm.name, minutes: Int((alarm.minutes - stations[start].minutes).magnitude))
        }
    }

    private func found(_ name: String) throws(TripFault) -> City {
        guard let city = cities.first(where: { $0.name == name }) else { throw .unknownCity }
        return city
    }

    private func found(_ name: String, in city: String) throws(TripFault) -> Line {
        guard let line = try found(city).lines.first(where: { $0.name == name }) else { throw .unknownLine }
        return line
    }
}

/// An answer of the line protocol.
package enum TripAnswer: Equatable, Sendable {
    case lines([String])
    case stations([String])
    /// The goal is two stops away or less: one had better not sleep.
    case near
    case alarm(station: String, minutes: Int)
    case refused(TripFault)

    /// The figure that it begins with.
    package var code: Int {
        switch self {
        case .lines: 1
        case .stations: 2
        case .near: 0
        case .alarm: 3
        case .refused: 9
        }
    }

    /// Without what ends it on the wire.
    package var text: String {
        switch self {
        case .lines(let names): "1@" + names.joined(separator: "@")
        case .stations(let names): "2@" + names.joined(separator: "@")
        case .near: "0@"
        case .alarm(let station, let minutes): "3@\(station)@\(minutes)"
        case .refused(let fault): fault.text
        }
    }
}
