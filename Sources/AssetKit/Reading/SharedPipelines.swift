import LibAV
import MediaBase
import Threading

/// The samples of one track in one form, which a ``SharedReading`` makes once.
struct SharedLane: Hashable {
    /// The index of the track, which the assets of some jobs may know more of than others.
    let track: Int
    /// True for audio.
    let isAudio: Bool
    /// True for samples as they are stored.
    let isStored: Bool

    /// Creates the lane of which an output's samples are made; `nil` if there is none.
    init?(_ track: AssetTrack, _ settings: TrackOutput.Settings) {
        self.track = track.index
        isAudio = track.mediaType == .audio
        switch settings {
        case .stored: isStored = true
        case .video: isStored = false
        case .audio(let settings):
            guard settings == AudioSettings() else { return nil }
            isStored = false
        }
    }

    /// Returns the settings of the output that reads the lane: samples as they were decoded.
    func settings(bySlices: Bool) -> TrackOutput.Settings {
        if isStored { return .stored }
        if isAudio { return .audio(AudioSettings()) }
        var settings = VideoSettings()
        settings.decodesBySlices = bySlices
        return .video(settings)
    }
}

/// The state in which the reading of a track has ended.
struct LaneEnd {
    let track: Int
    /// The damage of the track.
    let damage: DamageReport
    /// The reason why nothing of the track was decoded.
    let undecodable: MediaError?
    let samplesCutBeforeZero: Int64
}

/// Makes the samples of a reader's outputs from what a ``SharedReading`` hands out.
final class SharedPipelines: PipelineMaker {
    private let orders: SharedOrders
    private let core: DemuxSession
    /// The places of the reader's outputs in the reading, of each lane in order, which no pipeline has yet.
    private let places: Mutex<[SharedLane: [Int]]>
    let timeRange: MediaTimeRange
    private let contents: AssetContents

    init(
        _ orders: SharedOrders, _ contents: AssetContents, places: [SharedLane: [Int]], core: DemuxSession,
        timeRange: MediaTimeRange
    ) {
        (self.orders, self.contents, self.core, self.timeRange) = (orders, contents, core, timeRange)
        self.places = Mutex(places)
    }

    var duration: MediaTime { contents.duration }

    func origin(of track: AssetTrack) -> MediaTime { contents.origin(ofStream: track.index) }

    func pipeline(
        for track: AssetTrack, _ settings: TrackOutput.Settings, _ reduction: (any AudioReduction)?
    ) throws(MediaError) -> any SamplePipeline {
        guard let lane = SharedLane(track, settings),
            let place = places.withLock({ $0[lane]?.isEmpty == false ? $0[lane]?.removeFirst() : nil })
        else { throw MediaError(.invalidArgument, "the output has no place in the shared reading") }
        var conversion: PictureConversion?
        if case .video(let settings) = settings { conversion = try PictureConversion(settings) }
        return SharedPipeline(orders, place: place, conversion, core)
    }
}

/// Delivers one output's samples of a ``SharedReading``, converted as its settings require.
private final class SharedPipeline: SamplePipeline {
    private let orders: SharedOrders
    private let place: Int
    private let conversion: PictureConversion?
    private let core: DemuxSession
    private(set) var samplesCutBeforeZero: Int64 = 0

    init(_ orders: SharedOrders, place: Int, _ conversion: PictureConversion?, _ core: DemuxSession) {
        (self.orders, self.place, self.conversion, self.core) = (orders, place, conversion, core)
    }

    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        let next: SampleBuffer?
        do throws(MediaError) {
            next = try orders.next(for: place)
        } catch {
            takeEnding()
            throw error
        }
        guard let samples = next else {
            takeEnding()
            return nil
        }
        guard let conversion, let picture = samples.pixelBuffer else { return samples }
        return samples.converted(to: try conversion.convert(picture))
    }

    /// Takes over what reading the track has found.
    private func takeEnding() {
        guard let ending = orders.ending(of: place) else { return }
        samplesCutBeforeZero = ending.samplesCutBeforeZero
        core.add(ending.damage, ofTrack: ending.track)
    }
}
