import LibAV
package import MediaBase

/// The part of a track's linear PCM that is contiguous in the file, so that it can be read without packets.
///
/// libavformat provides the position and confirms that the samples are contiguous. Its first packet marks the start of
/// the samples, and a packet near the end, reached by a seek, must lie exactly at the counted position. The last second
/// is left to an ``AssetReader``, which finds the true end as in any file.
package final class RawPCMTrack: Sendable {
    /// The encoding of the samples.
    package enum Encoding: Sendable, Hashable {
        case uint8
        case int16(isBigEndian: Bool)
        case int24(isBigEndian: Bool)
        case int32(isBigEndian: Bool)
        case float32(isBigEndian: Bool)
        case float64(isBigEndian: Bool)
    }

    /// The number of contiguous samples per channel, from the track's first sample on.
    package let frames: Int64
    /// The encoding of the samples.
    package let encoding: Encoding
    /// The sample rate in hertz.
    package let sampleRate: Int
    /// The number of interleaved channels.
    package var channels: Int { channelLayout.channels }
    /// The channel layout that the decoder states.
    package let channelLayout: ChannelLayout

    let file: InputFile
    let position: Int64

    /// The number of samples that are left to the reader.
    private static let rest: Int64 = 1 << 16
    /// The minimum number of samples that justifies opening the file a second time.
    private static let fewest: Int64 = 1 << 18

    /// Finds the contiguous part; `nil` if there is none, or if the file is unusual in any way.
    ///
    /// - Throws: Errors from opening and reading the file.
    package init?(_ asset: Asset, track: AssetTrack) throws(MediaError) {
        let contents = try asset.contents()
        guard contents.format.holdsPlainPCM, contents.tracks.count == 1, contents.origin == .zero,
            contents.edits.isEmpty,
            let description = track.formatDescriptions.first, let format = description.audio,
            let encoding = Encoding(codec: description.codec), (1...Limits.sampleRate).contains(format.sampleRate),
            (1...Limits.channels).contains(format.channels),
            track.timeBase == Rational(1, Int64(format.sampleRate)), asset.canBeReadAgain
        else { return nil }
        let frameBytes = Int64(encoding.bytesPerSample * format.channels)
        let file = try asset.takeFile(Cancellation())
        guard let length = file.length,
            let first = try file.readPacket(), let position = first.position, (first.pts ?? 0) == 0,
            position < length,
            let layout = try Self.layout(of: first, in: file, format, encoding)
        else { return nil }
        var (count, torn) = (length - position).quotientAndRemainder(dividingBy: frameBytes)
        let end = track.timeRange.end
        if end.isNumeric, let stated = end.sampleIndex(rate: Int32(clamping: format.sampleRate), rounding: .down),
            stated < count
        {
            (count, torn) = (stated, 0)
        }
        // A partial frame at the file's end is damage, which the reader has to report.
        guard torn == 0 else { return nil }
        guard count > Self.fewest, file.seek(stream: track.index, to: count - Self.rest),
            let last = try file.readPacket(), let start = last.pts, let found = last.position,
            start >= Self.fewest / 2, start <= count - Self.rest, found >= position,
            (found - position).isMultiple(of: frameBytes), (found - position) / frameBytes == start
        else { return nil }
        self.file = file
        self.position = position
        self.encoding = encoding
        frames = start
        sampleRate = format.sampleRate
        channelLayout = layout
    }

    /// Returns the channel layout of a decoded packet; `nil` if the decoder gives another form than the header states.
    private static func layout(
        of packet: consuming Packet, in file: InputFile, _ format: AudioFormat, _ encoding: Encoding
    ) throws(MediaError) -> ChannelLayout? {
        var decoder = PacketDecoder(try Decoder.open(file, stream: packet.streamIndex, threads: 1))
        guard try decoder.send(CompressedSample(packet)) == nil, case .frame(let frame) = try decoder.receive(),
            let form = AudioForm(frame), form.format == encoding.sampleFormat, !form.isPlanar,
            form.sampleRate == format.sampleRate, form.channelLayout.channels == format.channels
        else { return nil }
        return form.channelLayout
    }

    /// The sample format that the decoder produces.
    package var sampleFormat: SampleFormat { encoding.sampleFormat }
}

extension RawPCMTrack.Encoding {
    fileprivate var sampleFormat: SampleFormat {
        switch self {
        case .uint8: .uint8
        case .int16: .int16
        case .int24, .int32: .int32
        case .float32: .float32
        case .float64: .float64
        }
    }

    fileprivate init?(codec: String) {
        switch codec {
        case "pcm_u8": self = .uint8
        case "pcm_s16le": self = .int16(isBigEndian: false)
        case "pcm_s16be": self = .int16(isBigEndian: true)
        case "pcm_s24le": self = .int24(isBigEndian: false)
        case "pcm_s24be": self = .int24(isBigEndian: true)
        case "pcm_s32le": self = .int32(isBigEndian: false)
        case "pcm_s32be": self = .int32(isBigEndian: true)
        case "pcm_f32le": self = .float32(isBigEndian: false)
        case "pcm_f32be": self = .float32(isBigEndian: true)
        case "pcm_f64le": self = .float64(isBigEndian: false)
        case "pcm_f64be": self = .float64(isBigEndian: true)
        default: return nil
        }
    }

    /// The size of one sample of one channel in the file, in bytes.
    package var bytesPerSample: Int {
        switch self {
        case .uint8: 1
        case .int16: 2
        case .int24: 3
        case .int32, .float32: 4
        case .float64: 8
        }
    }
}

/// Reads plain PCM in blocks into reused memory; only one thread may use it at a time.
package struct RawPCMReader: Sendable {
    /// The samples of the last block, interleaved.
    package enum Samples: Sendable {
        case uint8([UInt8])
        case int16([Int16])
        case int32([Int32])
        case float32([Float])
        case float64([Double])
    }

    private let sound: RawPCMTrack
    private let blockFrames: Int
    private let exactFrom: Int16
    private var bytes: [UInt8] = []
    /// The buffer that `samples` does not hold at the moment; 24-bit samples are returned in one of two forms.
    private var narrow: [Int16] = []
    private var wide: [Int32] = []
    /// The samples of the last block, possibly followed by remains of an earlier block.
    package private(set) var samples: Samples

    /// - Parameters:
    ///   - blockFrames: The maximum number of samples per channel in a block.
    ///   - exactFrom: A 16-bit magnitude. A block of 24-bit samples below this magnitude is rounded to 16 bits; 0
    ///     disables rounding.
    package init(_ sound: RawPCMTrack, blockFrames: Int, exactFrom: Int16 = 0) {
        self.sound = sound
        self.blockFrames = blockFrames
        self.exactFrom = exactFrom
        let count = blockFrames * sound.channels
        switch sound.encoding {
        case .uint8: samples = .uint8(Array(repeating: 0, count: count))
        case .int16:
            narrow = Array(repeating: 0, count: count)
            samples = .int16([])
        case .int24:
            narrow = Array(repeating: 0, count: count)
            samples = .int16([])
            bytes = Array(repeating: 0, count: count * 3 + 1)
        case .int32: samples = .int32(Array(repeating: 0, count: count))
        case .float32: samples = .float32(Array(repeating: 0, count: count))
        case .float64: samples = .float64(Array(repeating: 0, count: count))
        }
    }

    /// Reads a block from a frame on, within the contiguous part.
    ///
    /// - Returns: The number of valid frames in ``samples``; at least one.
    /// - Throws: ``MediaError`` `inputOutput`, also if the file has become shorter since it was opened.
    package mutating func read(from frame: Int64) throws(MediaError) -> Int {
        let frameBytes = Int64(sound.channels * sound.encoding.bytesPerSample)
        let left = sound.frames - frame
        guard frame >= 0, left > 0 else { throw MediaError(.outOfRange, "there is no frame \(frame)") }
        let place = sound.position + frame * frameBytes
        let read: Int
        switch sound.encoding {
        case .int16(let isBigEndian):
            takeBack()
            read = try sound.file.read(at: place, into: &narrow)
            if isBigEndian { StoredSamples.swapBytes(&narrow) }
            lendNarrow()
        case .int24(let isBigEndian):
            takeBack()
            read = try sound.file.read(at: place, into: &bytes) / 3
            spread(isBigEndian: isBigEndian)
        default: read = try fill(from: place)
        }
        let frames = min(Int64(min(read / sound.channels, blockFrames)), left)
        guard frames == min(Int64(blockFrames), left) else {
            throw MediaError(.inputOutput, "the file has become shorter while it was read")
        }
        return Int(frames)
    }

    /// Reads samples that are native numbers, swapping their bytes if necessary.
    private mutating func fill(from place: Int64) throws(MediaError) -> Int {
        // Moved out during reading, so that it is never copied.
        var block = Samples.uint8([])
        swap(&block, &samples)
        let read: Int
        switch consume block {
        case .uint8(var numbers):
            read = try sound.file.read(at: place, into: &numbers)
            samples = .uint8(numbers)
        case .int16: read = 0
        case .int32(var numbers):
            read = try sound.file.read(at: place, into: &numbers)
            if sound.encoding == .int32(isBigEndian: true) { StoredSamples.swapBytes(&numbers) }
            samples = .int32(numbers)
        case .float32(var numbers):
            read = try sound.file.read(at: place, into: &numbers)
            if sound.encoding == .float32(isBigEndian: true) {
                for index in numbers.indices {
                    numbers[index] = Float(bitPattern: UInt32(bigEndian: numbers[index].bitPattern))
                }
            }
            samples = .float32(numbers)
        case .float64(var numbers):
            read = try sound.file.read(at: place, into: &numbers)
            if sound.encoding == .float64(isBigEndian: true) {
                for index in numbers.indices {
                    numbers[index] = Double(bitPattern: UInt64(bigEndian: numbers[index].bitPattern))
                }
            }
            samples = .float64(numbers)
        }
        return read
    }

    /// Reclaims the buffer from `samples`, so that it is never copied.
    private mutating func takeBack() {
        switch samples {
        case .int16(let kept) where !kept.isEmpty: narrow = kept
        case .int32(let kept): wide = kept
        default: break
        }
        samples = .uint8([])
    }

    /// Moves the 16-bit samples into `samples`.
    private mutating func lendNarrow() {
        samples = .int16(narrow)
        narrow = []
    }

    /// Converts 3-byte samples to numbers, of 16 bits if that is precise enough.
    private mutating func spread(isBigEndian: Bool) {
        if !isBigEndian {
            if StoredSamples.round24(bytes, into: &narrow) < exactFrom { return lendNarrow() }
        }
        if wide.isEmpty { wide = Array(repeating: 0, count: blockFrames * sound.channels) }
        StoredSamples.spread24(bytes, isBigEndian: isBigEndian, into: &wide)
        samples = .int32(wide)
        wide = []
    }
}
