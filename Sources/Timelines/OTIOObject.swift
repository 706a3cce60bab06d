internal import JSONText
internal import MediaBase

/// One object of an OpenTimelineIO file, with its schema, its members and its location for messages.
struct OTIOObject {
    /// The name of the schema without the version, such as `Clip`.
    let schema: String
    /// The version of the schema.
    let version: Int
    /// The location in the file, such as `tracks/V1/3`.
    let place: String
    private let members: JSONObject

    /// - Throws: `damaged` if the value is not an object with a schema.
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

    /// Returns an error about the object.
    func failure(_ code: MediaError.Code, _ message: String) -> MediaError {
        MediaError(code, "\(described): \(message)")
    }

    /// The maximum length of a name in messages and locations, because every item stores its own description.
    ///
    /// Longer names are cut in messages and not used in locations.
    static let maximumNameBytes = 64

    /// The location, followed by the name if the object has one.
    var described: String {
        guard case .string(let name) = members.value(for: "name"), !name.isEmpty else { return place }
        guard name.utf8.count > Self.maximumNameBytes else { return "\(place) \"\(name)\"" }
        // A scalar has at most four bytes.
        let beginning = name.unicodeScalars.prefix(Self.maximumNameBytes / 4)
        return "\(place) \"\(String(beginning))…\""
    }

    private func wrong(_ key: String, _ wanted: String) -> MediaError {
        failure(.damaged, "\(key) is not \(wanted)")
    }

    /// Returns a string; `nil` if it is missing or null.
    func string(_ key: String) throws(MediaError) -> String? {
        switch members.value(for: key) {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw wrong(key, "a text")
        }
    }

    /// Returns a number, possibly infinite or not a number; `nil` if it is missing or null.
    func number(_ key: String) throws(MediaError) -> Double? {
        switch members.value(for: key) {
        case nil, .null: return nil
        case .number(let text):
            guard let number = Double(text) else { throw wrong(key, "a number") }
            return number
        default: throw wrong(key, "a number")
        }
    }

    /// Returns a Boolean; `standard` if it is missing or null.
    func bool(_ key: String, or standard: Bool) throws(MediaError) -> Bool {
        switch members.value(for: key) {
        case nil, .null: return standard
        case .bool(let value): return value
        default: throw wrong(key, "true or false")
        }
    }

    /// Returns a nested object; `nil` if it is missing or null.
    ///
    /// - Parameter place: The location of the nested object; `nil` for this object's location followed by the key.
    func object(_ key: String, place: String? = nil) throws(MediaError) -> OTIOObject? {
        switch members.value(for: key) {
        case nil, .null: return nil
        case let value?: return try OTIOObject(value, place: place ?? self.place + "/" + key)
        }
    }

    /// Returns the values of a list; empty if it is missing or null.
    func list(_ key: String) throws(MediaError) -> [JSONValue] {
        switch members.value(for: key) {
        case nil, .null: return []
        case .array(let array): return array.elements
        default: throw wrong(key, "a list")
        }
    }

    /// Returns the value for a name in a nested dictionary; `nil` if either is missing or null.
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

// OpenTimelineIO writes a time as two floating-point numbers: a count, and its rate per second.

extension OTIOObject {
    /// Returns a time and its rate; `nil` if it is missing or null.
    ///
    /// - Throws: `damaged` if the value is not a valid `RationalTime`.
    func time(_ key: String) throws(MediaError) -> (time: MediaTime, rate: Rational)? {
        guard let object = try object(key) else { return nil }
        guard object.schema == "RationalTime" else { throw failure(.damaged, "\(key) is not a RationalTime") }
        guard let value = try object.number("value"), let rate = try object.number("rate") else {
            throw failure(.damaged, "\(key) has no value or no rate")
        }
        guard let exactRate = Rational(rate: rate) else {
            throw failure(.damaged, "\(key) has a rate of \(rate), which is not a rate")
        }
        guard let exactValue = Rational(nearest: value), let seconds = exactValue.divided(by: exactRate),
            case let time = MediaTime(seconds), time.isNumeric
        else { throw failure(.damaged, "\(key) has a value of \(value), which is not a time") }
        return (time, exactRate)
    }

    /// Returns a range; `nil` if it is missing or null.
    ///
    /// - Throws: `damaged` if the value is not a valid `TimeRange`, or its duration is negative.
    func range(_ key: String) throws(MediaError) -> TimelineRange? {
        guard let object = try object(key) else { return nil }
        guard object.schema == "TimeRange" else { throw failure(.damaged, "\(key) is not a TimeRange") }
        guard let start = try object.time("start_time"), let duration = try object.time("duration") else {
            throw failure(.damaged, "\(key) has no start_time or no duration")
        }
        guard duration.time >= .zero else {
            throw failure(.damaged, "\(key) has a duration of \(duration.time.seconds) s, which is negative")
        }
        return TimelineRange(start: start.time, duration: duration.time, rate: duration.rate)
    }
}
