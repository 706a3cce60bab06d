internal import Inspection
internal import JSONText
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// An OpenTimelineIO file, recognised by its content or its name.
package struct TimelineFile: Sendable {
    /// The contents of the file.
    let bytes: [UInt8]
    /// The folder that relative media paths start from; empty for the current one.
    let folder: FilePath

    /// The number of bytes by which a file is recognised.
    private static let prefixBytes = 4096

    /// Returns true if the file at a path may be a timeline, judged by its name and its first bytes.
    package static func isLikely(at path: FilePath) -> Bool {
        if path.extension?.lowercased() == "otio" { return true }
        guard let status = try? Stat(path), status.type == .regular, let file = try? openForReading(path) else {
            return false
        }
        defer { try? file.close() }
        let prefix = (try? readSome(from: file, atMost: prefixBytes)) ?? []
        return isTimeline(prefix, requiresSchema: false)
    }

    /// Reads the file at a path; `nil` if it is not a regular file, cannot be opened, or is not a timeline.
    ///
    /// A file whose name ends with `.otio` is a timeline regardless of its contents.
    ///
    /// - Parameter requiresSchema: True to accept other JSON files only if they start with OpenTimelineIO's schema.
    /// - Throws: `limitExceeded` if the file is too large, and reading errors.
    package init?(
        path: FilePath, requiresSchema: Bool = false, until deadline: ContinuousClock.Instant? = nil
    ) throws(MediaError) {
        let isNamed = path.extension?.lowercased() == "otio"
        let file = WholeFile(as: "a timeline", atMost: TimelineReader.maximumBytes, until: deadline) {
            isNamed || Self.isTimeline($0, requiresSchema: requiresSchema)
        }
        guard let bytes = try file.readRegular(path) else { return nil }
        self.bytes = bytes
        folder = path.removingLastComponent()
    }

    /// Reads a timeline from standard input; leaves the input unread and returns `nil` if it is not a timeline.
    ///
    /// Relative media paths start from the current folder.
    ///
    /// - Parameters:
    ///   - standardInput: The descriptor of standard input.
    ///   - requiresSchema: True to accept JSON only if it starts with OpenTimelineIO's schema.
    ///   - deadline: The time until which a silent pipe is waited for; `nil` for no limit.
    package init?(
        standardInput: FileDescriptor, requiresSchema: Bool = false, until deadline: ContinuousClock.Instant? = nil
    ) throws(MediaError) {
        let file = WholeFile(as: "a timeline", atMost: TimelineReader.maximumBytes, until: deadline) {
            Self.isTimeline($0, requiresSchema: requiresSchema)
        }
        guard let bytes = try file.readStandardInput(standardInput) else { return nil }
        self.bytes = bytes
        folder = FilePath()
    }

    /// Returns whether a file starts like a JSON object, which no media file does.
    ///
    /// - Parameter requiresSchema: True to require the name of OpenTimelineIO's schema as well.
    private static func isTimeline(_ prefix: [UInt8], requiresSchema: Bool) -> Bool {
        guard !requiresSchema || prefix.firstRange(of: Array("\"OTIO_SCHEMA\"".utf8)) != nil else { return false }
        let text = prefix.starts(with: [0xEF, 0xBB, 0xBF]) ? prefix.dropFirst(3) : prefix[...]
        return text.first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) } == UInt8(ascii: "{")
    }
}

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

    /// Returns the value of a member; `nil` if it is missing or null.
    ///
    /// - Parameters:
    ///   - kind: The kind of value, for the error if `read` returns `nil`.
    ///   - read: Returns the value if it is of that kind.
    private func value<Value>(
        _ key: String, _ kind: String, _ read: (JSONValue) -> Value?
    ) throws(MediaError) -> Value? {
        guard let member = members.value(for: key), !member.isNull else { return nil }
        guard let value = read(member) else { throw failure(.damaged, "\(key) is not \(kind)") }
        return value
    }

    /// Returns a string; `nil` if it is missing or null.
    func string(_ key: String) throws(MediaError) -> String? {
        try value(key, "a text") { if case .string(let text) = $0 { text } else { nil } }
    }

    /// Returns a number, possibly infinite or not a number; `nil` if it is missing or null.
    func number(_ key: String) throws(MediaError) -> Double? {
        try value(key, "a number") { if case .number(let text) = $0 { Double(text) } else { nil } }
    }

    /// Returns a Boolean; `standard` if it is missing or null.
    func bool(_ key: String, or standard: Bool) throws(MediaError) -> Bool {
        try value(key, "true or false") { if case .bool(let value) = $0 { value } else { nil } } ?? standard
    }

    /// Returns a nested object; `nil` if it is missing or null.
    ///
    /// - Parameter place: The location of the nested object; `nil` for this object's location followed by the key.
    func object(_ key: String, place: String? = nil) throws(MediaError) -> OTIOObject? {
        guard let value = try value(key, "an object", { $0 }) else { return nil }
        return try OTIOObject(value, place: place ?? self.place + "/" + key)
    }

    /// Returns the values of a list; empty if it is missing or null.
    func list(_ key: String) throws(MediaError) -> [JSONValue] {
        try value(key, "a list") { if case .array(let array) = $0 { array.elements } else { nil } } ?? []
    }

    /// Returns the value for a name in a nested dictionary; `nil` if either is missing or null.
    func entry(_ name: String, of key: String) throws(MediaError) -> OTIOObject? {
        let entries = try value(key, "a dictionary") { if case .object(let object) = $0 { object } else { nil } }
        guard let value = entries?.value(for: name), !value.isNull else { return nil }
        return try OTIOObject(value, place: place + "/" + key + "/" + name)
    }
}

extension JSONValue {
    fileprivate var isNull: Bool { if case .null = self { true } else { false } }
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
