internal import AssetKit
internal import MediaBase
internal import Threading

/// The hashes of one track, as lines that wait to be written.
final class HashedTrack {
    let track: AssetTrack
    /// The number of the track in the lines.
    let number: Int
    /// The lines that are not written yet.
    var lines = FIFO<Line>()
    /// The time of the last line; `nil` before the first one.
    private(set) var lastTime: MediaTime?
    /// The lines about the track at the beginning; empty before the first sample.
    private(set) var header: [String] = []
    private var portion: AudioPortion?

    /// A line and the time by which it has its place among those of other tracks.
    struct Line {
        let time: MediaTime
        let text: String
    }

    init(_ track: AssetTrack, number: Int) {
        self.track = track
        self.number = number
    }

    /// Adds a picture or audio.
    func append(_ buffer: SampleBuffer) throws(MediaError) {
        if let picture = buffer.pixelBuffer {
            if header.isEmpty { describe(picture, buffer.formatDescription.video?.sampleAspectRatio) }
            var digest = try ContentDigest(.md5)
            let size = digest.update(picture)
            add(buffer.presentationTime, buffer.duration, in: track.timeBase, size: size, digest.finish())
        }
        guard let audio = buffer.audioBuffer, audio.sampleRate > 0 else { return }
        if header.isEmpty { describe(audio) }
        var place = 0
        while place < audio.sampleCount {
            if portion == nil {
                let offset = MediaTime(value: Int64(place), timescale: Int32(clamping: audio.sampleRate))
                portion = try AudioPortion(at: buffer.presentationTime + offset, rate: audio.sampleRate)
            }
            place += portion?.append(audio, from: place) ?? audio.sampleCount
            if portion?.isFull == true { finish() }
        }
    }

    /// Adds the portion of audio that was begun, if there is one.
    func finish() {
        if let rest = portion.take() { add(rest) }
    }

    private func describe(_ picture: PixelBuffer, _ stated: Rational?) {
        let ratio = stated ?? picture.sampleAspectRatio ?? .zero
        header = [
            "#tb \(number): \(track.timeBase.num)/\(track.timeBase.den)", "#media_type \(number): video",
            "#codec_id \(number): rawvideo", "#dimensions \(number): \(picture.dimensions)",
            "#sar \(number): \(ratio.num)/\(ratio.den)",
        ]
    }

    private func describe(_ audio: AudioBuffer) {
        let layout = audio.channelLayout
        // Where only the number of channels is known, ffmpeg assumes the usual loudspeakers.
        let assumed = layout.knownName == nil ? ChannelLayout.usual(channels: layout.channels) ?? layout : layout
        header = [
            "#tb \(number): 1/\(audio.sampleRate)", "#media_type \(number): audio",
            "#codec_id \(number): \(audio.sampleFormat.pcmCodec)", "#sample_rate \(number): \(audio.sampleRate)",
            "#channel_layout_name \(number): \(assumed.name)",
        ]
    }

    private func add(_ portion: consuming AudioPortion) {
        let rate = portion.rate
        let (time, count, size) = (portion.time, portion.count, portion.size)
        add(
            time, MediaTime(value: Int64(count), timescale: Int32(clamping: rate)), in: Rational(1, Int64(rate)),
            size: size, portion.finish())
    }

    private func add(_ time: MediaTime, _ duration: MediaTime, in unit: Rational, size: Int, _ hash: String) {
        let stamp = padded(time.ticks(in: unit, rounding: .halfAwayFromZero) ?? 0, 10)
        let length = padded(duration.ticks(in: unit, rounding: .halfAwayFromZero) ?? 0, 8)
        let text = "\(number), \(stamp), \(stamp), \(length), \(padded(size, 8)), \(hash)\n"
        lines.append(Line(time: time, text: text))
        lastTime = time
    }

    private func padded(_ value: some BinaryInteger, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

/// Up to one second of a track's audio.
struct AudioPortion: ~Copyable {
    /// The time of the first sample.
    let time: MediaTime
    /// The number of samples per second, and of the samples in each channel of a full portion.
    let rate: Int
    /// The number of samples in each channel.
    private(set) var count = 0
    /// The number of bytes.
    private(set) var size = 0
    private var digest: ContentDigest

    init(at time: MediaTime, rate: Int) throws(MediaError) {
        self.time = time
        self.rate = rate
        digest = try ContentDigest(.md5)
    }

    var isFull: Bool { count == rate }

    /// Adds samples of a buffer, as many as fit, and returns their number.
    mutating func append(_ audio: AudioBuffer, from start: Int) -> Int {
        let part = start..<min(audio.sampleCount, start + rate - count)
        if audio.isPlanar {
            switch audio.sampleFormat {
            case .uint8: append(audio, part, zero: UInt8(0))
            case .int16: append(audio, part, zero: Int16(0))
            case .int32: append(audio, part, zero: Int32(0))
            case .int64: append(audio, part, zero: Int64(0))
            case .float32: append(audio, part, zero: Float(0))
            case .float64: append(audio, part, zero: Double(0))
            }
        } else {
            let frame = audio.sampleFormat.bytesPerSample * audio.channelLayout.channels
            audio.withBytes { bytes in
                let end = min(bytes.byteCount, part.upperBound * frame)
                add(bytes.extracting(min(part.lowerBound * frame, end)..<end))
            }
        }
        count += part.count
        return part.count
    }

    private mutating func append<Sample: BitwiseCopyable>(_ audio: AudioBuffer, _ part: Range<Int>, zero: Sample) {
        let channels = audio.channelLayout.channels
        var all = [Sample](repeating: zero, count: part.count * channels)
        for channel in 0..<channels {
            audio.withSamples(of: Sample.self, plane: channel) { samples in
                for index in part where index < samples.count {
                    all[(index - part.lowerBound) * channels + channel] = samples[index]
                }
            }
        }
        // Numbers have no bytes without a value.
        unsafe add(all.span.bytes)
    }

    private mutating func add(_ bytes: RawSpan) {
        digest.update(bytes)
        size += bytes.byteCount
    }

    /// Returns the hash in hexadecimal digits.
    consuming func finish() -> String { digest.finish() }
}

extension SampleFormat {
    /// ffmpeg's name of the codec that stores samples as they are.
    fileprivate var pcmCodec: String {
        switch self {
        case .uint8: "pcm_u8"
        case .int16: "pcm_s16le"
        case .int32: "pcm_s32le"
        case .int64: "pcm_s64le"
        case .float32: "pcm_f32le"
        case .float64: "pcm_f64le"
        }
    }
}
