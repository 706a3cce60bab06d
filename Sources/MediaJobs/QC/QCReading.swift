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
        let (pairs, notes) = pairs(in: wanted)
        if wanted.count == 1, wanted[0].mediaType == .audio, let plain = try PlainSound(asset, track: wanted[0]),
            var result = try QCPlainReading(plain, wanted[0], self).measure(progress: progress)
        {
            result.notes = notes
            return result
        }
        var measurements = QCMeasurements(tracks: [], damage: DamageSummary(DamageReport()))
        var undecodable: [Int: MediaError] = [:]
        if !wanted.isEmpty { (measurements, undecodable) = try measure(wanted, pairs, progress: progress) }
        // Nothing was read of a file whose header breaks off before it names a track.
        if wanted.isEmpty, request.checks.contains(.damage) { measurements.damage.truncated = try asset.breaksOff() }
        let empty = try emptyTracks(of: wanted, measurements.tracks, undecodable)
        measurements.emptyTracks = empty.isEmpty ? nil : empty.map(\.index)
        measurements.notes =
            notes
            + empty.map { track in
                guard let error = undecodable[track.index] else { return track.errorOfNothing.message }
                return "track \(track.index) (\(track.mediaType)) was not measured: \(error.message)"
            }
        return measurements
    }

    /// The tracks that gave nothing, save those of which the container itself says that there is nothing.
    private func emptyTracks(
        of wanted: [AssetTrack], _ measured: [QCMeasurements.Track], _ undecodable: [Int: MediaError]
    ) throws -> [AssetTrack] {
        let known = Set(measured.flatMap { [$0.trackIndex, $0.pairedTrackIndex].compactMap(\.self) })
        let isFragmented = try asset.loadNow(.container).isFragmented == true
        return wanted.filter {
            undecodable[$0.index] != nil
                || !known.contains($0.index) && !$0.isSaidToBeEmpty(inFragments: isFragmented)
        }
    }

    /// The pairs that the file has, and why others cannot be.
    private func pairs(in tracks: [AssetTrack]) -> (pairs: [(AssetTrack, AssetTrack)], notes: [String]) {
        var pairs: [(AssetTrack, AssetTrack)] = []
        var notes: [String] = []
        var taken: Set<Int> = []
        for pair in request.needsSound ? request.pairs : [] {
            guard let first = try? pair.first.track(of: .audio, in: tracks),
                let second = try? pair.second.track(of: .audio, in: tracks)
            else {
                notes.append("a pair of tracks that the policy names is not there")
                continue
            }
            let formats = [first, second].compactMap { $0.formatDescriptions.first?.audio }
            guard first.index != second.index, formats.count == 2, formats.allSatisfy({ $0.channels == 1 }),
                formats[0].sampleRate == formats[1].sampleRate, taken.isDisjoint(with: [first.index, second.index])
            else {
                notes.append(
                    "tracks \(first.index) and \(second.index) are not a pair: they must be two, of one channel each, at one "
                        + "rate, and in no other pair")
                continue
            }
            taken.formUnion([first.index, second.index])
            pairs.append((first, second))
        }
        return (pairs, notes)
    }

    /// Measures tracks; tells why nothing of some can be decoded, by their index.
    ///
    /// - Throws: that error where it is so with all of them.
    private func measure(
        _ tracks: [AssetTrack], _ pairs: [(AssetTrack, AssetTrack)], progress: ((Double, Double) -> Void)?
    ) throws(MediaError) -> (QCMeasurements, undecodable: [Int: MediaError]) {
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = threads
        reader.decodesSoundInSegments = tracks.allSatisfy { $0.mediaType == .audio }
        var outputs: [Int: TrackOutput] = [:]
        for track in tracks {
            let output =
                track.mediaType == .audio
                ? TrackOutput(track: track, audioSettings: AudioSettings())
                : TrackOutput(track: track, videoSettings: VideoSettings())
            output.passesOverUndecodable = true
            try reader.add(output)
            outputs[track.index] = output
        }
        var lanes: [any QCLane] = []
        for track in tracks {
            guard let output = outputs[track.index] else { continue }
            if let pair = pairs.first(where: { $0.0.index == track.index }), let second = outputs[pair.1.index] {
                lanes.append(QCPairLane(pair.0, pair.1, output, second, request))
            } else if track.mediaType == .video {
                lanes.append(QCPictureLane(track, output, request))
            } else if !pairs.contains(where: { $0.1.index == track.index }) {
                lanes.append(QCSoundLane(track, output, request))
            }
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
        let undecodable = outputs.compactMapValues(\.undecodable)
        if measured.isEmpty, let first = undecodable.min(by: { $0.key < $1.key }) { throw first.value }
        return (QCMeasurements(tracks: measured, damage: DamageSummary(reader.damage)), undecodable)
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
