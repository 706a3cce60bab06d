internal import MediaBase

extension PeakFile {
    /// One line with audiowaveform's keys in its order; the caller has checked that the format holds the peaks.
    static func encodeJSON(_ peaks: Peaks) -> [UInt8] {
        let head =
            "{\"version\":2,\"channels\":\(peaks.channels),\"sample_rate\":\(peaks.sampleRate)"
            + ",\"samples_per_pixel\":\(peaks.samplesPerPixel),\"bits\":\(peaks.bits)"
            + ",\"length\":\(peaks.length),\"data\":["
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

    /// Keys may come in any order, each once; files of audiowaveform before 1.3 have no version and no channels.
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
