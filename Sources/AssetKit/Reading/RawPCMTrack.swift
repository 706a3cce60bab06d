import LibAV
package import MediaBase

/// The part of a track's linear PCM that lies in one piece in the file, so that it can be read without packets.
///
/// Where it begins and that nothing lies in between is libavformat's word: its first packet says where the samples begin,
/// and a packet near the end, reached by a seek, lies exactly where counting samples puts it. The last second is left to
/// an ``AssetReader``, which finds the true end as it does for any file.
package final class RawPCMTrack: Sendable {
    /// How the samples are stored.
    package enum Encoding: Sendable, Hashable {
        case uint8
        case int16(isBigEndian: Bool)
        case int24(isBigEndian: Bool)
        case int32(isBigEndian: Bool)
        case float32(isBigEndian: Bool)
        case float64(isBigEndian: Bool)
    }

    /// How many samples in each channel, from the track's first on, lie in one piece.
    package let frames: Int64
    /// How the samples are stored.
    package let encoding: Encoding
    /// Samples a second.
    package let sampleRate: Int
    /// Interleaved channels.
    package let channels: Int

    let file: InputFile
    let position: Int64

    /// Samples that are left to the reader.
    private static let rest: Int64 = 1 << 16
    /// Fewer samples are not worth the second opening.
    private static let fewest: Int64 = 1 << 18

    /// Looks for the part; `nil` where there is none, or where anything is out of the ordinary.
    ///
    /// - Throws: what opening and reading the file throw.
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
            position < length
        else { return nil }
        var (count, torn) = (length - position).quotientAndRemainder(dividingBy: frameBytes)
        let end = track.timeRange.end
        if end.isNumeric, let stated = end.sampleIndex(rate: Int32(clamping: format.sampleRate), rounding: .down),
            stated < count
        {
            (count, torn) = (stated, 0)
        }
        // The last packet of a file that breaks off inside a frame is damage, to be told as ever.
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
        channels = format.channels
    }

    /// Which format the decoder makes of the samples.
    package var sampleFormat: SampleFormat {
        switch encoding {
        case .uint8: .uint8
        case .int16: .int16
        case .int24, .int32: .int32
        case .float32: .float32
        case .float64: .float64
        }
    }
}

extension RawPCMTrack.Encoding {
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

    /// How many bytes one sample of one channel takes in the file.
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

/// Reads plain sound block by block into memory that is used again; one thread uses it at a time.
package struct PlainSoundReader: Sendable {
    /// The samples that were read last, interleaved.
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
    /// Space for what is not lent at the moment: samples of 24 bits come in one of two forms.
    private var narrow: [Int16] = []
    private var wide: [Int32] = []
    /// The samples that were read last, with what an earlier block left behind them.
    package private(set) var samples: Samples

    /// - Parameters:
    ///   - blockFrames: How many samples in each channel are read at once at most.
    ///   - exactFrom: A magnitude in 16 bits. A block of 24-bit samples in which there is none as large comes rounded to
    ///     16 bits; with 0 none does.
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

    /// Reads a block from a frame on, within the sound.
    ///
    /// - Returns: How many frames of ``samples`` are of the sound; at least one.
    /// - Throws: ``MediaError`` `inputOutput`, also where the file has become shorter since it was opened.
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

    /// Reads samples that are numbers of the machine, or such with their bytes turned round.
    private mutating func fill(from place: Int64) throws(MediaError) -> Int {
        // Taken out while it is filled, so that it is never copied.
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

    /// Takes back what was lent, so that it is never copied.
    private mutating func takeBack() {
        switch samples {
        case .int16(let kept) where !kept.isEmpty: narrow = kept
        case .int32(let kept): wide = kept
        default: break
        }
        samples = .uint8([])
    }

    /// Lends samples of 16 bits.
    private mutating func lendNarrow() {
        samples = .int16(narrow)
        narrow = []
    }

    /// Makes numbers of samples of three bytes: of 16 bits where that tells all there is to know.
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
