internal import Foundation

/// Reading whole files of a set, with errors that name the file.
enum InputFiles {
    static func bytes(_ path: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ConversionError.unreadable(path: path, reason: error.localizedDescription)
        }
    }

    /// The root of a JSON file, which must be of type `Root`.
    static func json<Root>(_ path: String, as type: Root.Type) throws -> Root {
        let root: Any
        do {
            root = try JSONSerialization.jsonObject(with: try bytes(path), options: [.fragmentsAllowed])
        } catch let error as ConversionError {
            throw error
        } catch {
            throw ConversionError.malformed(path: path, detail: "not JSON: \(error.localizedDescription)")
        }
        guard let root = root as? Root else {
            throw ConversionError.malformed(path: path, detail: "the root is not what was expected")
        }
        return root
    }

    /// The files of a folder whose names have this beginning and end, in order of name.
    static func list(_ folder: String, prefix: String, suffix: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder)
                .filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }
                .sorted()
                .map { folder + "/" + $0 }
        } catch {
            throw ConversionError.unreadable(path: folder, reason: error.localizedDescription)
        }
    }
}

/// A parsed JSON object that remembers which file it came from, for errors.
struct Record {
    let fields: [String: Any]
    let path: String

    init(_ parsed: Any?, in path: String) throws {
        guard let fields = parsed as? [String: Any] else {
            throw ConversionError.malformed(path: path, detail: "expected an object")
        }
        self.fields = fields
        self.path = path
    }

    /// The member `name`, which must be of type `Value`.
    func get<Value>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        guard let value = fields[name] as? Value else {
            throw ConversionError.malformed(path: path, detail: "no member \(name) of type \(Value.self)")
        }
        return value
    }

    func text(_ name: String) throws -> String {
        try get(name)
    }

    func record(_ name: String) throws -> Record {
        try Record(fields[name], in: path)
    }

    /// The objects of an array member.
    func records(_ name: String) throws -> [Record] {
        try get(name, as: [Any].self).map { try Record($0, in: path) }
    }

    func json(_ name: String) throws -> JSONValue {
        guard let value = fields[name].flatMap(JSONValue.init(parsed:)) else {
            throw ConversionError.malformed(path: path, detail: "no member \(name)")
        }
        return value
    }
}
