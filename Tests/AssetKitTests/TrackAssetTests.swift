import AssetKit
import SystemPackage
import TestSupport
import Testing

/// A track's asset.
@Suite struct TrackAssetTests {
    private let range = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))

    @Test func everyWayOfLoadingGivesIt() async throws {
        let asset = try Media.asset("av.mp4")
        #expect(try asset.loadNow(.tracks).allSatisfy { $0.asset === asset })
        #expect(try await asset.load(.tracks).allSatisfy { $0.asset === asset })
        #expect(try await asset.loadTracks(withMediaType: .audio).first?.asset === asset)
        guard case .loaded(let tracks) = asset.status(of: .tracks) else { throw TestSupportError("not loaded") }
        #expect(tracks.allSatisfy { $0.asset === asset })
        // Equal tracks of two openings of a file stay equal.
        let other = try Media.asset("av.mp4")
        #expect(try other.loadNow(.tracks) == tracks && other !== asset)
        #expect(try other.loadNow(.tracks).map(\.hashValue) == tracks.map(\.hashValue))
    }

    @Test func neitherKeepsTheOtherForEver() throws {
        weak var asset: Asset?
        weak var composed: Asset?
        do {
            var track: AssetTrack?
            do {
                let opened = try Media.asset("av.mp4")
                track = try Media.track(opened, .video)
                (_, asset) = (try opened.loadNow(.tracks), opened)
            }
            // The track alone keeps its asset.
            #expect(asset != nil && track?.asset === asset)
            let kept = try #require(track)
            var composition = Composition()
            let id = try composition.addTrack(mediaType: .video)
            try composition.insertTimeRange(range, of: kept, at: .zero, into: id)
            let whole = Asset(composition: composition)
            composed = whole
            #expect(try whole.loadNow(.tracks).first?.asset === whole)
            #expect(composition.tracks.first?.segments.first?.sourceTrack?.asset === asset)
            _ = try kept.makeSampleCursorNow(presentationTime: .zero)
            track = nil
        }
        #expect(asset == nil && composed == nil)
    }

    @Test func insertsWithoutNamingIt() throws {
        let asset = try Media.asset("av.mp4")
        var (one, other) = (Composition(), Composition())
        for type in [MediaType.video, .audio] {
            let track = try Media.track(asset, type)
            let (first, second) = (try one.addTrack(mediaType: type), try other.addTrack(mediaType: type))
            try one.insertTimeRange(range, of: track, at: .zero, into: first)
            try other.insertTimeRange(range, of: track, in: asset, at: .zero, into: second)
        }
        #expect(one.duration == range.end)
        for place in 0..<2 {
            #expect(one.tracks[place].segments.map(\.sourceRange) == other.tracks[place].segments.map(\.sourceRange))
            #expect(one.tracks[place].segments.allSatisfy { $0.asset === asset })
        }
    }
}
