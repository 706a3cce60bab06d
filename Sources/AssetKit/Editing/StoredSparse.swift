import ISOMedia
import LibAV
import MediaBase

/// Reads the stored subtitles or data of one segment, with their times moved and cut to the segment.
///
/// A sample that holds where the segment starts begins there, and one that outlasts it ends with it.
final class StoredSparse: StoredClip {
    private let request: StoredClipRequest
    private let reader: ClipReader
    private let (from, to): (MediaTime, MediaTime)

    init(_ request: StoredClipRequest) throws(MediaError) {
        self.request = request
        (from, to) = (request.from, request.to)
        // A sample may have begun long before the segment, and nothing tells how long.
        reader = try request.open(from: .zero, to: to)
    }

    func next() throws(MediaError) -> SampleBuffer? { try nextCut()?.buffer }

    /// Returns the next sample, and how much of its source's sample lies before the segment.
    func nextCut() throws(MediaError) -> (buffer: SampleBuffer, skipped: MediaTime)? {
        while let buffer = try reader.next() {
            let begins = buffer.presentationTime
            guard begins.isNumeric else { throw request.failure("its file does not say when its samples are shown") }
            let ends = begins + buffer.duration
            guard ends > from, begins < to else { continue }
            let segment = request.segment
            let time = begins > from ? segment.time(ofSource: begins) : request.shown.lowerBound
            let end = ends < to ? segment.time(ofSource: ends) : request.shown.upperBound
            guard time < end else { continue }
            let cut = SampleBuffer(
                buffer, ofTrack: request.trackIndex, presentationTime: time, decodeTime: time, duration: end - time)
            return (cut, max(.zero, from - begins))
        }
        return nil
    }
}

/// Reads the stored timecode of one segment: a sample that begins before the segment counts the frames up to it.
///
/// QuickTime File Format, "Timecode Media": a sample is the number of its first frame, in 32 bits.
final class StoredTimecode: StoredClip {
    private let request: StoredClipRequest
    private let samples: StoredSparse

    init(_ request: StoredClipRequest) throws(MediaError) {
        self.request = request
        samples = try StoredSparse(request)
    }

    func next() throws(MediaError) -> SampleBuffer? {
        guard let (buffer, skipped) = try samples.nextCut() else { return nil }
        guard let sample = buffer.storedSample, skipped > .zero else { return buffer }
        guard let start = request.source.track.timecode?.start, sample.size == 4,
            let frame = Rational(start.rate.frameDuration),
            let passed = Rational(skipped)?.divided(by: frame)?.rounded(.down)
        else { throw request.failure("its source does not say how its timecode counts") }
        let bits = UInt32(truncatingIfNeeded: sample.packet.prefix(4).bigEndian)
        // Only a track whose first number is negative counts below zero.
        let first = start.frameNumber < 0 ? Int64(Int32(bitPattern: bits)) : Int64(bits)
        var number = first.addingReportingOverflow(passed).partialValue
        if number >= 0 { number = Timecode(frameNumber: number, rate: start.rate).wrappedAt24Hours.frameNumber }
        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt32(truncatingIfNeeded: number))
        return SampleBuffer(buffer, content: .stored(CompressedSample(try Packet.copying(bytes))))
    }
}
