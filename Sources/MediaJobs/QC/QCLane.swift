internal import AssetKit
internal import MediaAnalysis
internal import MediaBase

/// What is read of one track, or of some that belong together, and its meter.
protocol QCLane {
    /// How far it has come, in seconds of the presentation.
    var seconds: Double { get }
    /// Whether nothing more comes.
    var isOver: Bool { get }
    /// Takes what comes next.
    mutating func step() throws(MediaError)
    /// The measurements; `nil` where nothing could be decoded.
    mutating func finish() throws(MediaError) -> QCMeasurements.Track?
}

/// The pictures of a track.
struct QCPictureLane: QCLane {
    private(set) var seconds = 0.0
    private(set) var isOver = false
    private let track: AssetTrack
    private let output: TrackOutput
    private var meter: QCPictureMeter

    init(_ track: AssetTrack, _ output: TrackOutput, _ request: QCRequest) {
        self.track = track
        self.output = output
        meter = QCPictureMeter(request, timescale: max(1, track.naturalTimeScale))
    }

    mutating func step() throws(MediaError) {
        guard let sample = try output.nextSampleBuffer() else {
            isOver = true
            return
        }
        try meter.append(sample)
        if sample.presentationTime.isNumeric { seconds = sample.presentationTime.seconds }
    }

    mutating func finish() -> QCMeasurements.Track? { meter.finish(trackIndex: track.index) }
}

/// The sound of a track.
struct QCSoundLane: QCLane {
    private(set) var seconds = 0.0
    private(set) var isOver = false
    private let track: AssetTrack
    private let request: QCRequest
    private var sound: ContinuousSound
    private var meter: QCSoundMeter?
    private var silence: Int64 = 0

    init(_ track: AssetTrack, _ output: TrackOutput, _ request: QCRequest) {
        self.track = track
        self.request = request
        sound = ContinuousSound(output)
    }

    mutating func step() throws(MediaError) {
        switch try sound.nextPiece() {
        case nil: isOver = true
        // Before the first sound nobody knows its form, and what comes in pieces is measured as one.
        case .silence(let frames): silence += frames
        case .sound(let buffer): try append(buffer)
        }
    }

    private mutating func append(_ buffer: AudioBuffer) throws(MediaError) {
        let form = QCReading.form(of: buffer, track)
        var meter: QCSoundMeter
        if let begun = self.meter.take() { meter = begun } else { meter = try QCSoundMeter(form, request) }
        guard meter.form == form else {
            throw MediaError(
                .unsupported,
                "track \(track.index) changes from \(meter.form.layout) at \(meter.form.sampleRate) Hz to \(form.layout) at "
                    + "\(form.sampleRate) Hz; export it to one form first")
        }
        meter.appendSilence(frames: silence)
        silence = 0
        meter.append(buffer)
        seconds = Double(meter.frames) / Double(max(1, form.sampleRate))
        self.meter = meter
    }

    mutating func finish() -> QCMeasurements.Track? {
        meter?.finish(trackIndex: track.index, lateStart: sound.lateStart)
    }
}

/// Two tracks of one channel each, measured as the two channels of one sound.
struct QCPairLane: QCLane {
    private(set) var seconds = 0.0
    private(set) var isOver = false
    private let tracks: (AssetTrack, AssetTrack)
    private let request: QCRequest
    private var readers: (SoundPlaneReader, SoundPlaneReader)
    private var meter: QCSoundMeter?

    /// Frames that are read at once.
    private static let block = 4096

    init(
        _ first: AssetTrack, _ second: AssetTrack, _ output: TrackOutput, _ other: TrackOutput, _ request: QCRequest
    ) {
        tracks = (first, second)
        self.request = request
        readers = (SoundPlaneReader(output), SoundPlaneReader(other))
    }

    mutating func step() throws(MediaError) {
        var (left, right) = (try readers.0.read(Self.block).first ?? [], try readers.1.read(Self.block).first ?? [])
        guard let rate = readers.0.sampleRate ?? readers.1.sampleRate, !left.isEmpty || !right.isEmpty else {
            isOver = true
            return
        }
        // The one that ends first is silent from there on.
        let count = max(left.count, right.count)
        left += repeatElement(0, count: count - left.count)
        right += repeatElement(0, count: count - right.count)
        var meter: QCSoundMeter
        if let begun = self.meter.take() {
            meter = begun
        } else {
            let bits = tracks.0.formatDescriptions.first?.audio?.bitsPerSample
            let form = QCSoundMeter.Form(sampleRate: rate, layout: .stereo, significantBits: bits)
            meter = try QCSoundMeter(form, request)
        }
        meter.append([left, right])
        seconds = Double(meter.frames) / Double(max(1, rate))
        self.meter = meter
    }

    mutating func finish() -> QCMeasurements.Track? {
        var result = meter?.finish(
            trackIndex: tracks.0.index, lateStart: min(readers.0.lateStart, readers.1.lateStart))
        result?.pairedTrackIndex = tracks.1.index
        return result
    }
}
