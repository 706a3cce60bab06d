import CRubberBand
package import MediaBase

/// Changes the duration of audio without changing its pitch.
///
/// The work is done by Rubber Band's engine R3, in the mode in which it needs no second look at the audio, so memory does
/// not grow with the duration. All channels are kept in phase. The result depends on nothing but the samples, the
/// stretch and the first sample: neither on the sizes of the requests nor on the machine's processors. Only one thread
/// may use a stretcher at a time.
///
/// The library is loaded when the first stretcher is made, or by ``check(sampleRate:channels:)``.
package struct TimeStretcher: ~Copyable {
    /// The sample rates in hertz that the engine is made for.
    package static let sampleRates = 8000...192_000
    /// The maximum number of channels, each of which takes a megabyte or more.
    package static let maximumChannels = 64

    private let state: OpaquePointer
    private let channels: Int
    /// The number of samples that may be given to the engine at once.
    private let most: Int
    /// One run of `most` samples for each channel, both ways, and pointers to each.
    private let samples: UnsafeMutablePointer<Float>
    private let planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    /// The samples that were made but not returned yet, one array per channel.
    private var ready: [[Float]]
    private var given: [[Float]]
    /// The samples to drop before the first one.
    private var skipped: Int

    /// The number of samples before the first one that the stretcher asks for, half of its longest window.
    package let leadIn: Int
    /// The number of samples of the result after which its loudness is even: half of the longest window.
    package let rise: Int
    /// The maximum number of samples after the end of the audio that may have an effect on it.
    package let leadOut: Int

    /// The result of loading the library: `crb_load`.
    private static let loaded = crb_load()

    /// Returns true for a stretch from 1/32 to 32, for which the engine is made.
    package static func supports(stretch: Rational) -> Bool {
        stretch >= Rational(1, 32) && stretch <= Rational(32)
    }

    /// Throws if audio of this kind cannot be stretched; loads the library.
    ///
    /// - Throws: `unsupported` for other sample rates and numbers of channels, and if the library is missing.
    package static func check(sampleRate: Int, channels: Int) throws(MediaError) {
        guard sampleRates.contains(sampleRate) else {
            throw MediaError(
                .unsupported,
                "audio keeps its pitch at another speed from \(sampleRates.lowerBound) to \(sampleRates.upperBound) "
                    + "Hz, not at \(sampleRate) Hz; choose another sample rate, or the algorithm varispeed")
        }
        guard (1...maximumChannels).contains(channels) else {
            throw MediaError(
                .unsupported,
                "audio of \(channels) channels cannot keep its pitch at another speed, only of up to "
                    + "\(maximumChannels); choose fewer, or the algorithm varispeed")
        }
        switch loaded {
        case 0: break
        case 2:
            throw MediaError(
                .unsupported,
                "audio cannot keep its pitch at another speed, because the Rubber Band library is older than version "
                    + "3: install a newer one, or choose the algorithm varispeed")
        default:
            throw MediaError(
                .unsupported,
                "audio cannot keep its pitch at another speed, because the Rubber Band library is not installed: "
                    + "install it, such as Debian's librubberband2, or choose the algorithm varispeed")
        }
    }

    /// Creates a stretcher.
    ///
    /// - Parameters:
    ///   - sampleRate: The sample rate of both the source and the result.
    ///   - channels: The number of channels.
    ///   - stretch: The duration of a second of the source, from 1/32 to 32.
    /// - Throws: The errors of ``check(sampleRate:channels:)``.
    package static func make(
        sampleRate: Int, channels: Int, stretch: Rational
    ) throws(MediaError) -> TimeStretcher {
        try check(sampleRate: sampleRate, channels: channels)
        guard supports(stretch: stretch) else {
            throw MediaError(.unsupported, "audio cannot be stretched by \(stretch)")
        }
        // Up to 16384 samples are needed before the first output.
        let most = 16384
        guard
            let state = crb_new(UInt32(sampleRate), UInt32(channels), stretch.doubleValue, UInt32(most))
        else { throw MediaError(.limitExceeded, "there is no memory for stretching audio") }
        return TimeStretcher(adopting: state, channels: channels, most: most, stretch: stretch.doubleValue)
    }

    private init(adopting state: OpaquePointer, channels: Int, most: Int, stretch: Double) {
        self.state = state
        self.channels = channels
        self.most = most
        samples = .allocate(capacity: channels * most)
        samples.initialize(repeating: 0, count: channels * most)
        planes = .allocate(capacity: channels)
        for channel in 0..<channels { (planes + channel).initialize(to: samples + channel * most) }
        ready = Array(repeating: [], count: channels)
        given = Array(repeating: Array(repeating: 0, count: most), count: channels)
        leadIn = Int(crb_start_pad(state))
        rise = Int(crb_start_delay(state))
        skipped = rise
        leadOut = Int((Double(skipped) / stretch).rounded(.up)) + 2 * leadIn
    }

    deinit {
        crb_delete(state)
        samples.deallocate()
        planes.deallocate()
    }

    /// Returns the next samples of the result, one array per channel.
    ///
    /// - Parameters:
    ///   - count: The number of samples.
    ///   - source: Writes the given number of the source's next samples over the first ones of each channel's array. The
    ///     first call begins ``leadIn`` samples before the sample at which the result begins.
    /// - Throws: The errors of `source`.
    package mutating func read(
        _ count: Int, from source: (_ count: Int, inout [[Float]]) throws(MediaError) -> Void
    ) throws(MediaError) -> [[Float]] {
        while ready[0].count < count {
            let available = Int(crb_available(state))
            if available > 0 {
                take(min(available, most))
                continue
            }
            // It needs a sample even if it only has to go on.
            let wanted = min(max(1, Int(crb_samples_required(state))), most)
            try source(wanted, &given)
            for channel in 0..<channels {
                for index in 0..<wanted {
                    let value = given[channel][index]
                    // One value that is not a number would stay in the engine for good.
                    planes[channel][index] = value.isFinite ? value : 0
                }
            }
            planes.withMemoryRebound(to: UnsafePointer<Float>?.self, capacity: channels) {
                crb_process(state, $0, UInt32(wanted))
            }
        }
        return ready.indices.map { channel in
            defer { ready[channel].removeFirst(count) }
            return Array(ready[channel].prefix(count))
        }
    }

    private mutating func take(_ count: Int) {
        let got = planes.withMemoryRebound(to: UnsafeMutablePointer<Float>?.self, capacity: channels) {
            Int(crb_retrieve(state, $0, UInt32(count)))
        }
        let dropped = min(skipped, got)
        skipped -= dropped
        for channel in 0..<channels {
            ready[channel].append(
                contentsOf: UnsafeBufferPointer(start: planes[channel] + dropped, count: got - dropped))
        }
    }
}
