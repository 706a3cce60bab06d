internal import JSONText
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
        var reader = JSONReader(bytes)
        var numbers: [String: Int] = [:]
        var data: [Int16]?
        do throws(MediaError) {
            try reader.forEachMember { key, reader throws(MediaError) in
                switch key {
                case "data":
                    guard data == nil else { throw reader.failure("'data' stands twice") }
                    data = try values(&reader)
                case "version", "channels", "sample_rate", "samples_per_pixel", "bits", "length":
                    guard numbers.updateValue(try reader.integer(), forKey: key) == nil else {
                        throw reader.failure("'\(key)' stands twice")
                    }
                default: throw reader.failure("peaks files have no such key")
                }
            }
            try reader.expectEnd()
        } catch {
            throw MediaError(error.code, "the peaks file \(error.message)")
        }

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

    private static func values(_ reader: inout JSONReader) throws(MediaError) -> [Int16] {
        var values: [Int16] = []
        try reader.forEachElement { reader throws(MediaError) in
            guard let value = Int16(exactly: try reader.integer()) else {
                throw reader.failure("a value has more than 16 bits")
            }
            guard values.count < Peaks.maximumValueCount else {
                throw MediaError(.limitExceeded, "holds more than \(Peaks.maximumValueCount) values")
            }
            values.append(value)
        }
        return values
    }
}
