internal import AssetKit
internal import MediaAnalysis
internal import MediaBase
internal import SystemCalls

/// Decodes all sound and pictures of a file once, and has them measured.
struct QCReading {
    let asset: Asset
    let request: QCRequest
    /// Threads for decoding; 0 for as many as there are cores.
    let threads: Int

    /// Reads the whole file.
    ///
    /// - Parameter progress: Told now and then which part is done, 0…1, and how many seconds that is.
    func measure(progress: ((Double, Double) -> Void)?) throws -> QCMeasurements {
        let tracks = try asset.loadNow(.tracks)
        let wanted = tracks.filter { track in
            switch track.mediaType {
            case .audio: request.needsSound
            case .video: request.needsPictures && !track.isAttachedPicture
            default: false
            }
        }
        if wanted.count == 1, wanted[0].mediaType == .audio, let plain = try PlainSound(asset, track: wanted[0]),
            let result = try QCPlainReading(plain, wanted[0], self).measure(progress: progress)
        {
            return result
        }
        guard !wanted.isEmpty else { return QCMeasurements(tracks: [], damage: DamageSummary(DamageReport())) }
        return try measure(wanted, progress: progress)
    }

    private func measure(
        _ tracks: [AssetTrack], progress: ((Double, Double) -> Void)?
    ) throws(MediaError) -> QCMeasurements {
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = threads
        reader.decodesSoundInSegments = tracks.allSatisfy { $0.mediaType == .audio }
        var lanes: [Lane] = []
        for track in tracks {
            let output =
                track.mediaType == .audio
                ? TrackOutput(track: track, audioSettings: AudioSettings())
                : TrackOutput(track: track, videoSettings: VideoSettings())
            try reader.add(output)
            lanes.append(Lane(track, output, request))
        }
        try reader.startReading()
        let end = tracks.map(\.timeRange.end).filter(\.isNumeric).map(\.seconds).max() ?? 0
        // Outputs are pulled in step, so that little of what lies between them in the file has to wait.
        while let next = lanes.indices.filter({ !lanes[$0].isOver }).min(by: { lanes[$0].seconds < lanes[$1].seconds })
        {
            try lanes[next].step()
            progress?(end > 0 ? lanes[next].seconds / end : 0, lanes[next].seconds)
        }
        var measured: [QCMeasurements.Track] = []
        for index in lanes.indices {
            if let result = try lanes[index].finish() { measured.append(result) }
        }
        return QCMeasurements(tracks: measured, damage: DamageSummary(reader.damage))
    }

    /// The form of a track's sound as it is decoded.
    static func form(of sound: AudioBuffer, _ track: AssetTrack) -> QCSoundMeter.Form {
        let isFloating = sound.sampleFormat == .float32 || sound.sampleFormat == .float64
        let bits = track.formatDescriptions.first?.audio?.bitsPerSample
        return QCSoundMeter.Form(
            sampleRate: sound.sampleRate, layout: sound.channelLayout,
            significantBits: isFloating ? nil : bits ?? sound.sampleFormat.bytesPerSample * 8)
    }
}

/// One track that is read, and its meter.
private struct Lane {
    let track: AssetTrack
    let output: TrackOutput
    let request: QCRequest
    var seconds = 0.0
    var isOver = false
    private var sound: ContinuousSound?
    private var soundMeter: QCSoundMeter?
    private var silence: Int64 = 0
    private var pictureMeter: QCPictureMeter?

    init(_ track: AssetTrack, _ output: TrackOutput, _ request: QCRequest) {
        self.track = track
        self.output = output
        self.request = request
        if track.mediaType == .audio {
            sound = ContinuousSound(output)
        } else {
            pictureMeter = QCPictureMeter(request, timescale: max(1, track.naturalTimeScale))
        }
    }

    /// Takes what comes next.
    mutating func step() throws(MediaError) {
        guard sound != nil else {
            guard let sample = try output.nextSampleBuffer() else {
                isOver = true
                return
            }
            try pictureMeter?.append(sample)
            if sample.presentationTime.isNumeric { seconds = sample.presentationTime.seconds }
            return
        }
        switch try sound?.nextPiece() {
        case nil: isOver = true
        // Before the first sound nobody knows its form.
        case .silence(let frames) where soundMeter == nil: silence += frames
        case .silence(let frames): soundMeter?.appendSilence(frames: frames)
        case .sound(let buffer): try append(buffer)
        }
    }

    private mutating func append(_ buffer: AudioBuffer) throws(MediaError) {
        let form = QCReading.form(of: buffer, track)
        var meter: QCSoundMeter
        if let begun = soundMeter.take() { meter = begun } else { meter = try QCSoundMeter(form, request) }
        guard meter.form == form else {
            throw MediaError(
                .unsupported,
                "track \(track.index) changes from \(meter.form.layout) at \(meter.form.sampleRate) Hz to \(form.layout) at "
                    + "\(form.sampleRate) Hz; export it to one form first")
        }
        while silence > 0 {
            try output.checkReading()
            let piece = min(silence, ContinuousSound.longestSilence)
            meter.appendSilence(frames: piece)
            silence -= piece
        }
        meter.append(buffer)
        seconds = Double(meter.frames) / Double(max(1, form.sampleRate))
        soundMeter = meter
    }

    /// The track's measurements; `nil` where nothing of it could be decoded.
    mutating func finish() throws(MediaError) -> QCMeasurements.Track? {
        if sound != nil { return soundMeter?.finish(trackIndex: track.index) }
        return pictureMeter?.finish(trackIndex: track.index)
    }
}
