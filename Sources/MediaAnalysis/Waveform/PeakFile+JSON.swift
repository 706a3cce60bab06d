package import MediaBase

extension PeakFile {
    /// Returns one line of JSON with audiowaveform's keys in its order.
    ///
    /// The caller has checked that the format can hold the peaks.
    static func encodeJSON(_ peaks: Peaks) -> [UInt8] {
        let head = jsonHead(of: peaks, length: peaks.length)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(head.utf8.count + peaks.data.count * (peaks.bits == 8 ? 4 : 6) + 3)
        bytes.append(contentsOf: head.utf8)
        for value in peaks.data {
            PeakText.append(value, to: &bytes)
            bytes.append(UInt8(ascii: ","))
        }
        if !peaks.data.isEmpty { bytes.removeLast() }
        bytes.append(contentsOf: "]}\n".utf8)
        return bytes
    }

    private static func jsonHead(of peaks: Peaks, length: Int) -> String {
        "{\"version\":2,\"channels\":\(peaks.channels),\"sample_rate\":\(peaks.sampleRate)"
            + ",\"samples_per_pixel\":\(peaks.samplesPerPixel),\"bits\":\(peaks.bits)"
            + ",\"length\":\(length),\"data\":["
    }

    /// Writes a JSON file of peaks that are not all in memory: first the head, then block by block, then the end.
    package struct JSONBlocks {
        /// The start of the file.
        package let head: [UInt8]
        /// The end of the file.
        package let end = Array("]}\n".utf8)

        /// Creates the head of a file.
        ///
        /// - Parameters:
        ///   - peaks: Some of the peaks, with 16 bits.
        ///   - length: The total number of points.
        ///   - bits: The resolution in the file: 8 or 16.
        /// - Throws: ``MediaError`` `unsupported` as ``PeakFile/encode(_:as:)`` does.
        package init(_ peaks: Peaks, length: Int, bits: Int) throws(MediaError) {
            try PeakFile.checkWritable(peaks)
            head = Array(PeakFile.jsonHead(of: try peaks.emptied().converted(toBits: bits), length: length).utf8)
        }

        /// Returns the text of some values, which have the file's resolution.
        ///
        /// - Parameter start: The number of values that precede them.
        package func encode(_ values: Span<Int16>, from start: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(values.count * 6)
            for index in 0..<values.count {
                if start + index > 0 { bytes.append(UInt8(ascii: ",")) }
                PeakText.append(values[index], to: &bytes)
            }
            return bytes
        }
    }

    /// Reads JSON peaks, whose keys may come in any order, each once.
    ///
    /// Files written by audiowaveform before 1.3 have no version and no channels.
    static func decodeJSON(_ bytes: [UInt8]) throws(MediaError) -> Peaks {
        var scanner = JSONScanner(bytes: bytes)
        var numbers: [String: Int] = [:]
        var data: [Int16]?
        try scanner.expect("{")
        var isFirst = true
        while try !scanner.take("}") {
            if !isFirst { try scanner.expect(",") }
            isFirst = false
            let key = try scanner.key()
            try scanner.expect(":")
            switch key {
            case "data":
                guard data == nil else { throw scanner.failure("says data twice") }
                data = try scanner.int16Array()
            case "version", "channels", "sample_rate", "samples_per_pixel", "bits", "length":
                guard numbers.updateValue(try scanner.integer(), forKey: key) == nil else {
                    throw scanner.failure("says \(key) twice")
                }
            default:
                throw scanner.failure("has a key that peaks files do not have")
            }
        }
        guard scanner.isAtEnd else { throw scanner.failure("goes on after its end") }

        let version = numbers["version"] ?? 1
        guard version == 1 || version == 2 else {
            throw MediaError(.unsupported, "the peaks file has version \(version); 1 and 2 are known")
        }
        guard let sampleRate = numbers["sample_rate"], let samplesPerPixel = numbers["samples_per_pixel"],
            let length = numbers["length"], let data
        else { throw MediaError(.damaged, "the peaks file lacks sample_rate, samples_per_pixel, length or data") }
        let channels = numbers["channels"] ?? 1
        try checkHeader(sampleRate: sampleRate, samplesPerPixel: samplesPerPixel, channels: channels)
        guard data.count % (2 * channels) == 0, data.count / (2 * channels) == length else {
            throw MediaError(
                .damaged,
                "the peaks file states \(length) points of \(channels) channels and holds \(data.count) values")
        }
        return try makePeaks(
            sampleRate: sampleRate, samplesPerPixel: samplesPerPixel, channels: channels,
            bits: numbers["bits"] ?? 16, data: data)
    }
}

/// Reads the subset of JSON that a peaks file uses: one object of integers and one array of integers.
///
/// Memory is bounded by the input: an array holds at most half as many numbers as there are bytes. Nothing nests.
struct JSONScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    func failure(_ what: String) -> MediaError {
        MediaError(.damaged, "the peaks file \(what), at byte \(position)")
    }

    /// True if only whitespace is left.
    var isAtEnd: Bool { bytes[position...].allSatisfy(Self.isBlank) }

    private mutating func skipBlanks() {
        while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
    }

    /// Consumes a character if it comes next.
    mutating func take(_ character: Unicode.Scalar) throws(MediaError) -> Bool {
        skipBlanks()
        guard position < bytes.count else { throw failure("ends too early") }
        guard UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    /// Consumes a character, which must come next.
    mutating func expect(_ character: Unicode.Scalar) throws(MediaError) {
        guard try take(character) else { throw failure("has something else where \(character) belongs") }
    }

    /// Reads a key of at most 64 plain ASCII characters.
    mutating func key() throws(MediaError) -> String {
        try expect("\"")
        var key = ""
        while position < bytes.count, key.utf8.count <= 64 {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return key }
            guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { break }
            key.unicodeScalars.append(Unicode.Scalar(byte))
        }
        throw failure("has a key that is not a plain name")
    }

    /// Reads an integer of at most 18 digits, so that the additions here cannot overflow.
    @inline(__always)
    mutating func integer() throws(MediaError) -> Int {
        skipBlanks()
        var index = position
        let isNegative = index < bytes.count && bytes[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let start = index
        var value = 0
        while index < bytes.count, index - start < 18 {
            let digit = bytes[index] &- 48
            guard digit < 10 else { break }
            value = value &* 10 &+ Int(digit)
            index += 1
        }
        let digits = index - start
        let goesOn = index < bytes.count && (Self.isPartOfNumber(bytes[index]))
        guard digits > 0, !goesOn, digits == 1 || bytes[start] != 48 else {
            throw failure("has something else where a whole number belongs")
        }
        position = index
        return isNegative ? -value : value
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: false
        }
    }

    /// Reads an array of 16-bit integers.
    mutating func int16Array() throws(MediaError) -> [Int16] {
        try expect("[")
        var values: [Int16] = []
        if try take("]") { return values }
        repeat {
            guard let value = Int16(exactly: try integer()) else { throw failure("has a value beyond 16 bits") }
            guard values.count < Peaks.maximumValueCount else {
                throw MediaError(.limitExceeded, "the peaks file holds more than \(Peaks.maximumValueCount) values")
            }
            values.append(value)
        } while try take(",")
        try expect("]")
        return values
    }
}
