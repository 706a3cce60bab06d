internal import MediaBase

/// One object of an OpenTimelineIO file: what it is, what it has, and where it stands for messages.
struct OTIOObject {
    /// The name of its schema without the version, such as `Clip`.
    let schema: String
    /// The schema's version.
    let version: Int
    /// Where it stands, such as `tracks/V1/3`.
    let place: String
    private let members: JSONObject

    /// - Throws: `damaged` for what is no object with a schema.
    init(_ value: JSONValue, place: String) throws(MediaError) {
        guard case .object(let members) = value else {
            throw MediaError(.damaged, "\(place): an object with an OTIO_SCHEMA is missing")
        }
        guard case .string(let name) = members.value(for: "OTIO_SCHEMA"),
            case let parts = name.split(separator: ".", omittingEmptySubsequences: false), parts.count == 2,
            let version = Int(parts[1]), version > 0, !parts[0].isEmpty
        else { throw MediaError(.damaged, "\(place): there is no OTIO_SCHEMA such as Clip.2") }
        self.members = members
        self.place = place
        self.version = version
        schema = String(parts[0])
    }

    /// An error about the object.
    func failure(_ code: MediaError.Code, _ message: String) -> MediaError {
        MediaError(code, "\(described): \(message)")
    }

    /// Longer names are cut in messages and are no places: each item keeps its own description.
    static let mostNameBytes = 64

    /// The place, and the name where it has one.
    var described: String {
        guard case .string(let name) = members.value(for: "name"), !name.isEmpty else { return place }
        guard name.utf8.count > Self.mostNameBytes else { return "\(place) \"\(name)\"" }
        // A scalar has four bytes at most.
        let beginning = name.unicodeScalars.prefix(Self.mostNameBytes / 4)
        return "\(place) \"\(String(beginning))…\""
    }

    private func wrong(_ key: String, _ wanted: String) -> MediaError {
        failure(.damaged, "\(key) is not \(wanted)")
    }

    /// A text; `nil` where it is missing or null.
    func string(_ key: String) throws(MediaError) -> String? {
        switch members.value(for: key) {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw wrong(key, "a text")
        }
    }

    /// A number, possibly infinite or none; `nil` where it is missing or null.
    func number(_ key: String) throws(MediaError) -> Double? {
        switch members.value(for: key) {
        case nil, .null: return nil
        case .number(let text):
            guard let number = Double(text) else { throw wrong(key, "a number") }
            return number
        default: throw wrong(key, "a number")
        }
    }

    /// True or false; `standard` where it is missing or null.
    func bool(_ key: String, or standard: Bool) throws(MediaError) -> Bool {
        switch members.value(for: key) {
        case nil, .null: return standard
        case .bool(let value): return value
        default: throw wrong(key, "true or false")
        }
    }

    /// An object inside; `nil` where it is missing or null.
    ///
    /// - Parameter place: Where that stands; this object's place unless given.
    func object(_ key: String, place: String? = nil) throws(MediaError) -> OTIOObject? {
        switch members.value(for: key) {
        case nil, .null: return nil
        case let value?: return try OTIOObject(value, place: place ?? self.place + "/" + key)
        }
    }

    /// The values of a list; none where it is missing or null.
    func list(_ key: String) throws(MediaError) -> [JSONValue] {
        switch members.value(for: key) {
        case nil, .null: return []
        case .array(let array): return array.elements
        default: throw wrong(key, "a list")
        }
    }

    /// The value of one key of a dictionary inside; `nil` where either is missing or null.
    func entry(_ name: String, of key: String) throws(MediaError) -> OTIOObject? {
        switch members.value(for: key) {
        case nil, .null: return nil
        case .object(let dictionary):
            switch dictionary.value(for: name) {
            case nil, .null: return nil
            case let value?: return try OTIOObject(value, place: place + "/" + key + "/" + name)
            }
        default: throw wrong(key, "a dictionary")
        }
    }
}
