extension MediaTime.Flags {
    /// What JSON says under `flags`: the names of what makes a time more, or less, than a plain exact number.
    ///
    /// Empty for an exact number. A time that is not valid is just `invalid`; the bit ``valid`` itself has no name.
    public var names: [String] {
        guard contains(.valid) else { return ["invalid"] }
        return Self.named.filter { contains($0.flag) }.map(\.name)
    }

    private static let named: [(name: String, flag: MediaTime.Flags)] = [
        ("hasBeenRounded", .hasBeenRounded), ("positiveInfinity", .positiveInfinity),
        ("negativeInfinity", .negativeInfinity), ("indefinite", .indefinite),
    ]
}

/// `{"value":…,"timescale":…,"seconds":…}`, and `"flags"` where the time is not a plain exact number.
///
/// `flags` is a list of names, of `hasBeenRounded`, or one alone of `positiveInfinity`, `negativeInfinity`,
/// `indefinite` and `invalid`; in these four cases value and timescale are 0 and `seconds` is `null`. Reading looks at
/// `value`, `timescale` and `flags` only, as `seconds` is not exact.
extension MediaTime: Codable {
    private enum CodingKeys: String, CodingKey {
        case value, timescale, seconds, flags
    }

    /// Writes the keys in the order above.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
        try container.encode(timescale, forKey: .timescale)
        try container.encode(isNumeric ? seconds : nil, forKey: .seconds)
        let names = flags.names
        if !names.isEmpty { try container.encode(names, forKey: .flags) }
    }

    /// Reads what ``encode(to:)`` writes; throws DecodingError where the flags contradict themselves or the timescale.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let value = try container.decode(Int64.self, forKey: .value)
        let timescale = try container.decode(Int32.self, forKey: .timescale)
        switch try container.decodeIfPresent([String].self, forKey: .flags) ?? [] {
        case [] where timescale > 0: self.init(value: value, timescale: timescale)
        case ["hasBeenRounded"] where timescale > 0:
            self.init(value: value, timescale: timescale, hasBeenRounded: true)
        case ["positiveInfinity"]: self = .positiveInfinity
        case ["negativeInfinity"]: self = .negativeInfinity
        case ["indefinite"]: self = .indefinite
        case ["invalid"]: self = .invalid
        default:
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "no time has this timescale with these flags"))
        }
    }
}
