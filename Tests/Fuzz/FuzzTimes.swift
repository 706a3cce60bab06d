import MediaBase

/// Reads any text as a time, a timecode, a fraction and raw sound, and works out what a time means in some tracks.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTimes(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: size), as: UTF8.self)
    if let time = MediaTime(text), time.isNumeric {
        precondition(MediaTime(time.description) == time)
        for decimals in [0, 3, 9] { _ = time.clockText(decimals: decimals) }
    }
    _ = Rational(text)
    _ = try? RawSound(parsing: text)
    let rates = [Rational(25, 1), Rational(30000, 1001), Rational(1000, 1), Rational(1, 1_000_000)]
    for rate in rates {
        for drops in [false, true] {
            guard let timecodes = try? Timecode.Rate(frameRate: rate, isDropFrame: drops) else { continue }
            guard let timecode = try? Timecode(text, rate: timecodes) else { continue }
            precondition((try? Timecode(timecode.description, rate: timecodes)) == timecode)
            _ = timecode.wrappedAt24Hours.time
        }
    }
    guard let expression = try? TimeExpression(parsing: text) else { return 0 }
    for rate in rates {
        var context = TimeExpression.Context(
            timeRange: MediaTimeRange(
                start: MediaTime(value: .max, timescale: 90_000), duration: MediaTime(value: 1, timescale: .max)))
        context.frameRate = rate
        if let timecodes = try? Timecode.Rate(frameRate: rate) {
            context.startTimecode = Timecode(frameNumber: .max, rate: timecodes)
        }
        _ = try? expression.resolve(in: context) { MediaTime(value: $0, timescale: 25) }
    }
    return 0
}
