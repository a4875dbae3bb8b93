internal import CommandLineKit

/// The places configuration comes from, the strongest last: built-in values, the file, those of `conf.d` by name, the
/// environment, the flags.
struct ConfigurationSources: Sendable {
    /// The file's name, for messages.
    var path = "syncd.json5"
    /// The file's text; `nil` if there is no file.
    var text: String?
    /// Files that are read after it, in this order.
    var additions: [(path: String, text: String)] = []
    /// The environment; only names that begin with `SYNCD_` matter.
    var environment: [String: String] = [:]
    /// Flags as given: `--data-dir` and its value.
    var flags: [(name: String, value: String)] = []

    /// What the sources say together, and everything that is wrong with them.
    func load() -> LoadedConfiguration {
        var loaded = LoadedConfiguration()
        if let text { ConfigurationFile(path: path).read(text, into: &loaded) }
        for file in additions { ConfigurationFile(path: file.path).read(file.text, into: &loaded) }
        readEnvironment(into: &loaded)
        for (name, value) in flags {
            guard let setting = ConfigurationSetting.all.first(where: { $0.flag == name }) else {
                loaded.report(.flag(name), "this flag sets no configuration")
                continue
            }
            loaded.apply(setting, text: value, origin: .flag(name))
        }
        return loaded
    }

    /// Whether a variable that is no key's was meant as one: it has its form, or would with two underscores for one. Others may be what an
    /// orchestrator tells of a service of this name (`SYNCD_SERVICE_HOST`).
    private static func isMeant(_ name: String, _ variables: [String]) -> Bool {
        name.contains("__")
            || variables.contains {
                $0.split(separator: "_").elementsEqual(name.split(separator: "_")) || $0.hasPrefix(name + "__")
            }
    }

    private func readEnvironment(into loaded: inout LoadedConfiguration) {
        let settings = ConfigurationSetting.all
        for (name, value) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix("SYNCD_") {
            guard let setting = settings.first(where: { $0.variable == name }) else {
                guard Self.isMeant(name, settings.map(\.variable)) else { continue }
                let nearest = Suggestion.nearest(to: name, among: settings.map(\.variable))
                let question = nearest.map { "; did you mean \($0)?" } ?? ""
                loaded.report(.environment(name), "this variable sets no configuration\(question)")
                continue
            }
            loaded.apply(setting, text: value, origin: .environment(name))
        }
    }
}

/// A file of configuration.
private struct ConfigurationFile {
    let path: String

    func read(_ text: String, into loaded: inout LoadedConfiguration) {
        do throws(JSON5SyntaxError) {
            readSection("", try JSON5Reader.read(text), into: &loaded)
        } catch {
            loaded.report(.file(path, error.position), error.message)
        }
    }

    /// Walks an object of the file; `prefix` is the section's path with a dot at its end, or empty.
    private func readSection(_ prefix: String, _ value: JSON5Value, into loaded: inout LoadedConfiguration) {
        guard case .object(let members) = value.content else {
            let name = prefix.isEmpty ? "the configuration" : "'\(prefix.dropLast())'"
            loaded.report(.file(path, value.position), "\(name) must be an object, not \(value.kind)")
            return
        }
        for member in members {
            let key = prefix + member.name
            if let setting = ConfigurationSetting.all.first(where: { $0.path == key }) {
                loaded.apply(setting, member.value) { .file(path, $0) }
            } else if ConfigurationSetting.all.contains(where: { $0.path.hasPrefix(key + ".") }) {
                readSection(key + ".", member.value, into: &loaded)
            } else {
                loaded.report(.file(path, member.position), unknownKey(member.name, in: prefix))
            }
        }
    }

    private func unknownKey(_ name: String, in prefix: String) -> String {
        let paths = ConfigurationSetting.all.map(\.path)
        let here = paths.filter { $0.hasPrefix(prefix) }.compactMap {
            $0.dropFirst(prefix.count).split(separator: ".").first.map(String.init)
        }
        if let nearest = Suggestion.nearest(to: name, among: here) {
            return "unknown key '\(prefix)\(name)'; did you mean '\(nearest)'?"
        }
        // Right name, wrong section.
        if let elsewhere = paths.first(where: { $0.hasSuffix("." + name) }) {
            return "unknown key '\(prefix)\(name)'; did you mean '\(elsewhere)'?"
        }
        return "unknown key '\(prefix)\(name)'"
    }
}

/// A configuration with the origin of each value and all problems found on the way.
struct LoadedConfiguration: Sendable {
    /// The values; where there was a problem, the weaker source's.
    private(set) var configuration = DaemonConfiguration()
    /// Everything that is wrong; the daemon starts only if this is empty.
    private(set) var problems: [ConfigurationProblem] = []
    private var origins: [String: ConfigurationOrigin] = [:]
    /// Keys whose values are wrong. What is in effect of them was not meant.
    private var mistaken: [String] = []

    /// One key as it is in effect.
    struct Effective: Sendable, Equatable {
        /// `storage.min_free`
        let path: String
        /// Its value as JSON5.
        let value: String
        /// Who said so.
        let origin: ConfigurationOrigin

        /// For people: a line that is JSON5 behind the key.
        var text: String { "\(path): \(value)  // \(origin)" }

        /// For programs.
        var json: JSONLine {
            var line = JSONLine(type: "setting")
            line.add("key", path)
            line.addRaw("value", value)
            origin.write(to: &line)
            line.add("reload", ConfigurationSetting.all.contains { $0.path == path && $0.isReloadable })
            return line
        }
    }

    /// Every key with its value and where that came from, in the order of the example file.
    func effective() -> [Effective] {
        ConfigurationSetting.all.map { setting in
            Effective(
                path: setting.path, value: setting.show(configuration), origin: origin(of: setting.path))
        }
    }

    /// Who said what is in effect for a key.
    func origin(of path: String) -> ConfigurationOrigin { origins[path] ?? .builtIn }

    /// Whether a value that was said for a key is no such value.
    func isMistaken(_ path: String) -> Bool { mistaken.contains(path) }

    /// Adds what is wrong with the values of these keys as they are in effect.
    mutating func report(_ found: [(path: String, message: String)]) {
        for (path, message) in found where !isMistaken(path) { report(origin(of: path), message) }
    }

    fileprivate mutating func report(_ origin: ConfigurationOrigin, _ message: String) {
        problems.append(ConfigurationProblem(origin: origin, message: message))
    }

    fileprivate mutating func apply(
        _ setting: ConfigurationSetting, _ value: JSON5Value, origin: (TextPosition) -> ConfigurationOrigin
    ) {
        do throws(ConfigurationFailure) {
            try setting.read(value, &configuration)
            origins[setting.path] = origin(value.position)
        } catch {
            mistaken.append(setting.path)
            for fault in error.all {
                report(origin(fault.position ?? value.position), "\(setting.path): \(fault.message)")
            }
        }
    }

    /// A value from a flag or variable: text as it is, `none` or `null` for null, JSON5 for a list.
    fileprivate mutating func apply(_ setting: ConfigurationSetting, text: String, origin: ConfigurationOrigin) {
        let content: JSON5Value.Content
        switch setting.form {
        case .optionalString where text == "none" || text == "null": content = .null
        case .string, .optionalString: content = .string(text)
        case .json5:
            do throws(JSON5SyntaxError) {
                content = try JSON5Reader.read(text).content
            } catch {
                mistaken.append(setting.path)
                return report(origin, "\(setting.path): \(error.position): \(error.message)")
            }
        }
        let value = JSON5Value(content: content, position: TextPosition(line: 1, column: 1))
        apply(setting, value) { _ in origin }
    }
}
