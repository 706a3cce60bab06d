import MediaBase

/// Makes an index of pictures at any times, and looks whether a player can follow it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebVTT(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let numbers = Array(UnsafeRawBufferPointer(start: data, count: size / 12 * 12))
    // Twelve bytes are a time: eight of its value, four of its time scale.
    let times = stride(from: 0, to: numbers.count, by: 12).map { at -> MediaTime in
        let value = numbers[at..<at + 8].reduce(0) { $0 << 8 | UInt64($1) }
        let scale = numbers[at + 8..<at + 12].reduce(0) { $0 << 8 | UInt32($1) }
        return MediaTime(value: Int64(bitPattern: value), timescale: Int32(truncatingIfNeeded: scale))
    }
    guard times.count >= 2 else { return 0 }
    let range = MediaTimeRange(start: times[0], end: times[1])
    let index = WebVTT(times.enumerated().map { (time: $1, reference: "\($0).jpg") }, range: range)
    for (cue, next) in zip(index.cues, index.cues.dropFirst()) { precondition(cue.end == next.start) }
    for cue in index.cues { precondition(cue.start >= 0 && cue.start < cue.end) }
    precondition(index.text.hasPrefix("WEBVTT\n"))
    return 0
}
