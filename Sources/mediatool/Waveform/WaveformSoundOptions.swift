import ArgumentParser
import MediaAnalysis
import MediaBase
import MediaJobs

/// The options of `waveform` that say which sound is measured.
struct WaveformSoundOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The track: its index (3), a:N or id:N. (default: the first enabled audio track)", valueName: "track"),
        transform: CommonArgument.track)
    var track: TrackSelector?

    @Option(
        help: ArgumentHelp(
            """
            Read the input as samples without a header: s16le:44100:2. Formats: s8, u8, s16le, s16be, s24le, s32le, \
            f32le, f64le, alaw, mulaw and the like; one channel where none are named.
            """, valueName: "format:rate[:n]"), transform: WaveformArgument.raw)
    var raw: RawSound?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Where to begin, exact to the sample: 12.5, 1:30.25, 50%, 9009/30000…", valueName: "time"),
        transform: CommonArgument.time)
    var start: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Where to end: the first moment that is not wanted.", valueName: "time"),
        transform: CommonArgument.time)
    var end: TimeExpression?

    @Flag(help: "Give each channel peaks of its own, instead of mixing them.")
    var splitChannels = false

    @Option(help: ArgumentHelp("Measure this channel alone, counted from 0.", valueName: "n"))
    var channel: Int?

    @Flag(
        help: """
            Decode in one go instead of in segments side by side. Slower; differs only in the noise that AAC and AC-3 \
            decoders add by chance.
            """)
    var serial = false

    func validate() throws {
        if splitChannels, channel != nil {
            throw ValidationError("'--split-channels' and '--channel' exclude each other.")
        }
        if let channel, channel < 0 { throw ValidationError("Channels are counted from 0.") }
        for (name, time) in [("--start", start), ("--end", end)] {
            if case .time(let time) = time, time < .zero {
                throw ValidationError("'\(name)' is before the beginning: times count from 0.")
            }
        }
        if case .time(let start) = start, case .time(let end) = end, start >= end {
            throw ValidationError("'--end' is not after '--start'.")
        }
    }

    /// Whether `--end` is a moment of its own, not one that follows from the length of the track.
    var namesEnd: Bool { end?.isMoment ?? false }

    /// What the options ask for.
    func options() -> WaveformOptions {
        var options = WaveformOptions()
        options.track = track
        options.start = start
        options.end = end
        options.isSerial = serial
        options.channels = splitChannels ? .split : channel.map { .single($0) } ?? .mixed
        return options
    }
}
