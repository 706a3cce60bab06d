package import MediaBase
package import SystemPackage

extension ExportSession {
    /// A track of the output: its source, and what is done with it.
    public enum Track: Sendable {
        /// A video track; `turned` is true to rotate its frames instead of storing a rotation.
        case video(AssetTrack, Reencoder.Treatment<VideoOutputSettings>, turned: Bool = false)
        /// An audio track.
        case audio(AssetTrack, Reencoder.Treatment<AudioOutputSettings>)
        /// A subtitle track, whose samples are copied.
        case subtitles(AssetTrack)
        /// A timecode or data track, whose samples are copied.
        case data(AssetTrack)
        /// The frames of a composition of video tracks.
        case frames(VideoComposition, of: [AssetTrack], VideoOutputSettings)
        /// The mix of audio tracks into one.
        case mix(AudioMix, of: [AssetTrack], AudioOutputSettings)
    }

    /// The treatment of several audio tracks.
    public enum AudioTracks: Sendable, Hashable {
        /// The tracks that play together are mixed into one: those that are enabled, one of each group of alternatives.
        ///
        /// ``AssetTrack/alternateGroup`` states the group. In Matroska and MPEG streams, where players choose a track,
        /// all audio tracks are alternatives.
        case mixed
        /// Each track becomes a track of its own.
        case kept
    }

    /// The options of an export that only the commands above the library need.
    package struct JobOptions: Sendable {
        /// True if the time range is written as it is, because it was rounded before.
        package var isTimeRangeExact = false
        /// True to leave out audio tracks of which nothing can be decoded.
        package var passesOverUndecodableAudio = false
        /// The number of decoding threads for each track; 0 for the default.
        package var threads = 0
        /// Called with each buffer after it was appended and with the index of its track, on that track's thread.
        package var observer: (@Sendable (Int, SampleBuffer) -> Void)?
        /// Verifies the complete file before it gets its final name; an error removes it.
        package var verification: (@Sendable (Finished) throws(MediaError) -> Void)?

        /// Creates the options of an export without a job.
        package init() {}
    }

    /// A complete file before it has its final name.
    package struct Finished {
        /// The temporary path; `nil` for segments, which the receiver has.
        package let path: FilePath?
        /// The writer, with its inputs in the order of the tracks.
        package let writer: AssetWriter
        /// The parts of the source that could not be used.
        package let damage: DamageReport
        /// The errors of the tracks that were passed over, by ``AssetTrack/index``.
        package let undecodable: [Int: MediaError]
    }
}

extension ExportSession.Track {
    /// The tracks of the asset that the track is made from.
    package var sources: [AssetTrack] {
        switch self {
        case .video(let track, _, _), .audio(let track, _), .subtitles(let track), .data(let track): [track]
        case .frames(_, let tracks, _), .mix(_, let tracks, _): tracks
        }
    }

    /// True for a video track, of one source or composed.
    package var isVideo: Bool {
        switch self {
        case .video, .frames: true
        case .audio, .subtitles, .data, .mix: false
        }
    }

    /// The times at which the track can begin and end.
    package var trimGrid: TrimGrid? {
        if case .frames(let composition, _, _) = self { return AssetTrack(framesOf: composition).trimGrid }
        return sources.first?.trimGrid
    }

    /// The approximate number of bits per second; `nil` if unknown.
    var estimatedBitRate: Int64? {
        switch self {
        case .audio(_, .encode(let settings)), .mix(_, _, let settings):
            let formats = sources.compactMap(\.formatDescriptions.first)
            guard let source = formats.compactMap(\.audio).max(by: { $0.channels < $1.channels }) else {
                return formats.first?.bitRate
            }
            let channels = Int64(source.channels)
            return settings.codec == .pcm ? Int64(source.sampleRate) * channels * 24 : 64_000 * channels
        case .video(let track, .encode(let settings), _):
            let rate = track.averageFrameRate ?? track.nominalFrameRate ?? Rational(30)
            let usual = Int64(OutputSettingsAssistant.bitRate(settings, at: rate))
            return switch settings.codec {
            // Apple's target rates for 1920 by 1080 at 29.97 frames per second: 147 and 330 Mb/s.
            case .proRes422: usual * 12
            case .proRes4444: usual * 27
            default: settings.bitRate.map(Int64.init) ?? usual / 2
            }
        case .video, .audio, .subtitles, .data, .frames: return sources.first?.formatDescriptions.first?.bitRate
        }
    }
}

extension ExportSession.Preset {
    /// Returns the video and audio tracks that the preset uses.
    private func media(of tracks: [AssetTrack]) -> [AssetTrack] {
        let media = tracks.filter { [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture }
        if self == .passthrough { return media }
        let pictures = media.filter { $0.mediaType == .video }
        let first = needsPictures ? pictures.first(where: \.isEnabled) ?? pictures.first : nil
        return media.filter { $0.mediaType == .audio || $0 == first }
    }

    /// Returns the reason why the preset does not write a track, in words that follow "because".
    func reasonToLeaveOut(_ track: AssetTrack) -> String {
        switch track.mediaType {
        case .video: needsPictures ? "one video track is written" : "the preset \(self) writes no video"
        case .audio: "the preset \(self) writes no audio"
        default: "a preset that encodes writes video and audio only"
        }
    }

    /// Returns a track with the preset's treatment.
    func track(_ track: AssetTrack) -> ExportSession.Track {
        track.mediaType == .video ? .video(track, video(for: track)) : .audio(track, audio(for: track))
    }

    /// Returns the tracks of the output; a composition and a mix replace the tracks that they merge.
    ///
    /// - Parameters:
    ///   - all: The tracks of the source.
    ///   - format: The source's container.
    ///   - composition: The composition of all video tracks; `nil` for the first one.
    ///   - audioTracks: The treatment of several audio tracks; copies are always kept.
    ///   - mix: The volumes of the audio tracks; `nil` for the tracks' own.
    func tracks(
        of all: [AssetTrack], in format: ContainerFormat, composition: VideoComposition? = nil,
        audioTracks: ExportSession.AudioTracks, mix: AudioMix? = nil
    ) -> [ExportSession.Track] {
        var media = media(of: all)
        var mix = mix
        if audioTracks == .mixed, self != .passthrough {
            let heard = all.heardTogether(in: format)
            media.removeAll { $0.mediaType == .audio && !heard.contains($0) }
            if heard.count > 1 { mix = mix ?? AudioMix() }
        }
        var tracks: [ExportSession.Track] = []
        if let composition, case .encode(let settings) = video(for: AssetTrack(framesOf: composition)) {
            let pictures = all.filter { $0.mediaType == .video && !$0.isAttachedPicture }
            tracks.append(.frames(composition, of: pictures, settings))
        }
        let sounds = media.filter { $0.mediaType == .audio }
        if let mix, let first = sounds.first, case .encode(let settings) = audio(for: first) {
            tracks.append(.mix(mix, of: sounds, settings))
        }
        return tracks
            + media.filter { $0.mediaType == .video ? composition == nil : mix == nil }.map(track)
    }
}

extension [AssetTrack] {
    /// Returns the audio tracks that a player plays together: those that are enabled, and of alternatives only one.
    ///
    /// Of alternatives, the first one that is marked as the default is used, or else the first one. If no track is
    /// enabled, the first one is.
    fileprivate func heardTogether(in format: ContainerFormat) -> [AssetTrack] {
        let audio = filter { $0.mediaType == .audio }
        var enabled = audio.filter(\.isEnabled)
        if enabled.isEmpty { enabled = Array(audio.prefix(1)) }
        func group(_ track: AssetTrack) -> Int {
            track.alternateGroup ?? (format.offersAudioTracksToChooseFrom ? 1 : 0)
        }
        return enabled.filter { track in
            guard group(track) != 0 else { return true }
            let alternatives = enabled.filter { group($0) == group(track) }
            return track == alternatives.first { $0.dispositions.contains("default") } ?? alternatives.first
        }
    }
}

extension Reencoder {
    /// Adds a track of an export; returns its input, or `nil` if the track is left out.
    func add(_ track: ExportSession.Track) throws(MediaError) -> AssetWriterInput? {
        switch track {
        case .video(let track, let video, let isTurned):
            try add(track, video: video, appliesPreferredTrackTransform: isTurned)
        case .audio(let track, let audio): try add(track, audio: audio)
        case .subtitles(let track), .data(let track): try add(copying: track)
        case .frames(let composition, let tracks, let settings):
            try add(composition, of: tracks, encodedWith: settings)
        case .mix(let mix, let tracks, let settings): try add(mix, of: tracks, encodedWith: settings)
        }
    }
}
