import AssetKit
import TestSupport
import Testing

/// Edits against a plain list that has one element for each tick.
@Suite struct CompositionTests {
    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    /// A time of so many 600ths, written in one of several timescales.
    private func time(_ ticks: Int, _ random: inout Random) -> MediaTime {
        let scale = [1, 2, 3, 50, 77, 1000].randomElement(using: &random) ?? 1
        return MediaTime(value: Int64(ticks * scale), timescale: Int32(600 * scale))
    }

    private static let second = MediaTime(value: 1, timescale: 1)

    /// What a track shows at each tick: which source's tick, or `nil`.
    private func ticks(of track: Composition.Track) throws -> [Int?] {
        var list: [Int?] = []
        var border = MediaTime.zero
        for segment in track.segments {
            #expect(segment.timeRange.start == border)
            #expect(segment.timeRange.duration > .zero)
            #expect(!segment.timeRange.end.hasBeenRounded)
            border = segment.timeRange.end
            let count = Int(try #require(segment.timeRange.duration.sampleIndex(rate: 600)))
            let first = Int(try #require(segment.sourceRange.start.sampleIndex(rate: 600)))
            #expect(segment.sourceRange.duration == segment.timeRange.duration)
            list += (0..<count).map { segment.isEmpty ? nil : first + $0 }
        }
        return list
    }

    @Test(arguments: [1, 2, 3]) func aThousandEditsLeaveNoDrift(_ seed: UInt64) throws {
        var random = Random(state: seed)
        let folder = try TemporaryFolder()
        let sound = try WrittenSound("three.wav", in: folder, samples: Made.noise(3 * 8000), rate: 8000)
        let (asset, source) = (sound.asset, sound.track)
        let sourceTicks = Int(try #require(source.timeRange.duration.sampleIndex(rate: 600)))
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .audio)
        var model: [Int?] = []
        for _ in 0..<1000 {
            let length = Int.random(in: 1...200, using: &random)
            let place = Int.random(in: 0...model.count + 20, using: &random)
            let range = MediaTimeRange(start: time(place, &random), duration: time(length, &random))
            switch Int.random(in: 0..<(model.count > 20000 ? 5 : 4), using: &random) {
            case 0, 1:
                let first = Int.random(in: 0..<sourceTicks + 100, using: &random)
                let piece = MediaTimeRange(start: time(first, &random), duration: range.duration)
                try composition.insertTimeRange(piece, of: source, in: asset, at: range.start, into: id)
                model += [Int?](repeating: nil, count: max(0, place - model.count))
                model.insert(contentsOf: (first..<first + length).map { $0 < sourceTicks ? $0 : nil }, at: place)
            case 2:
                try composition.insertEmptyTimeRange(range, intoTrack: id)
                model += [Int?](repeating: nil, count: max(0, place - model.count))
                model.insert(contentsOf: [Int?](repeating: nil, count: length), at: place)
            default:
                try composition.removeTimeRange(range, fromTrack: id)
                if place < model.count { model.removeSubrange(place..<min(place + length, model.count)) }
            }
        }
        let track = try #require(composition.track(withID: id))
        #expect(composition.duration == MediaTime(value: Int64(model.count), timescale: 600))
        let isEqual = try ticks(of: track) == model
        #expect(isEqual)
    }

    @Test func scalingThereAndBackIsExact() throws {
        let asset = try Media.asset("pcm-s16-stereo.wav")
        let source = try Media.track(asset, .audio)
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .audio)
        let range = MediaTimeRange(start: .zero, duration: Self.second)
        try composition.insertTimeRange(range, of: source, in: asset, at: .zero, into: id)
        try composition.insertTimeRange(range, of: source, in: asset, at: Self.second, into: id)
        let long = MediaTime(value: 7, timescale: 3)
        for _ in 0..<500 {
            try composition.scaleTimeRange(range, toDuration: long, inTrack: id)
            #expect(composition.duration == long + Self.second)
            #expect(composition.tracks[0].segments[0].speed == Rational(3, 7))
            let back = MediaTimeRange(start: .zero, duration: long)
            try composition.scaleTimeRange(back, toDuration: Self.second, inTrack: id)
        }
        #expect(composition.tracks[0].segments.count == 2)
        #expect(composition.tracks[0].segments[0].speed == .one)
        // Half of a slowed segment shows half of its source.
        try composition.scaleTimeRange(range, toDuration: MediaTime(value: 3, timescale: 1))
        try composition.removeTimeRange(MediaTimeRange(start: Self.second, duration: Self.second))
        let segments = composition.tracks[0].segments
        #expect(segments.map(\.timeRange.duration) == [Self.second, Self.second, Self.second])
        #expect(segments[0].sourceRange == MediaTimeRange(start: .zero, end: MediaTime(value: 1, timescale: 3)))
        #expect(segments[1].sourceRange.start == MediaTime(value: 2, timescale: 3))
        #expect(segments[1].sourceRange.end == Self.second)
    }

    @Test func wholeAssetsKeepTheirTracksTogether() throws {
        let asset = try Media.asset("av.mp4")
        let other = try Media.asset("rotated-90.mov")
        var composition = Composition()
        try composition.insertTimeRange(
            MediaTimeRange(start: .zero, duration: Self.second), of: asset, at: .zero)
        try composition.insertTimeRange(
            MediaTimeRange(start: Self.second, duration: Self.second), of: asset, at: Self.second)
        #expect(composition.tracks.map(\.mediaType) == [.video, .audio])
        #expect(composition.tracks.allSatisfy { $0.segments.count == 2 && $0.end == Self.second + Self.second })
        let upright = try Media.track(asset, .video)
        let turned = try Media.track(other, .video)
        #expect(composition.compatibleTrack(for: upright)?.id == composition.tracks[0].id)
        #expect(composition.compatibleTrack(for: turned) == nil)
        // In the middle: what is in another format gets a track of its own, and all others make room.
        let half = MediaTime(value: 1, timescale: 2)
        try composition.insertTimeRange(MediaTimeRange(start: .zero, duration: half), of: other, at: Self.second)
        let added = try #require(composition.tracks.first { $0.preferredTransform?.rotation == 90 })
        #expect(added.segments.map(\.isEmpty) == [true, false])
        #expect(composition.tracks[0].segments.map(\.isEmpty) == [false, true, false])
        #expect(composition.duration == Self.second + Self.second + half)
        #expect(try Asset(composition: composition).loadNow(.tracks).map(\.id) == composition.tracks.map(\.id))
    }

    @Test func aCompositionsSegmentsGoIntoAnother() throws {
        let asset = try Media.asset("av.mp4")
        let track = try Media.track(asset, .video)
        var inner = Composition()
        let id = try inner.addTrack(mediaType: .video)
        let piece = MediaTimeRange(start: Self.second, duration: Self.second)
        try inner.insertTimeRange(piece, of: track, in: asset, at: Self.second, into: id)
        let made = Asset(composition: inner)
        // What is changed later does not change the asset.
        try inner.removeTimeRange(piece)
        var outer = Composition()
        let half = MediaTime(value: 1, timescale: 2)
        try outer.insertTimeRange(
            MediaTimeRange(start: half, duration: Self.second + half), of: made, at: .zero)
        #expect(outer.tracks[0].segments.map(\.isEmpty) == [true, false])
        #expect(outer.tracks[0].segments[1].asset === asset)
        #expect(outer.tracks[0].segments[1].sourceRange == piece)
        #expect(outer.tracks[0].segments[1].timeRange.start == half)
    }

    @Test func tracksAreTurnedAndTakenAway() throws {
        let asset = try Media.asset("av.mp4")
        var composition = Composition()
        try composition.insertTimeRange(MediaTimeRange(start: .zero, duration: Self.second), of: asset, at: .zero)
        let (video, sound) = (composition.tracks[0].id, composition.tracks[1].id)
        #expect(composition.tracks[0].segments[0].sourceTrack == (try Media.track(asset, .video)))
        let turned = try Media.track(Media.asset("rotated-90.mov"), .video).preferredTransform
        composition.setPreferredTransform(turned, ofTrack: video)
        composition.setPreferredTransform(turned, ofTrack: 77)
        #expect(try Media.track(Asset(composition: composition), .video).preferredTransform.rotation == 90)
        composition.removeTrack(withID: video)
        composition.removeTrack(withID: 77)
        #expect(composition.tracks.map(\.id) == [sound])
        #expect(try Asset(composition: composition).loadNow(.tracks).map(\.mediaType) == [.audio])
    }

    @Test func refusesWhatMakesNoSense() throws {
        let asset = try Media.asset("av.mp4")
        let video = try Media.track(asset, .video)
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .video)
        let sound = try composition.addTrack(mediaType: .audio)
        let range = MediaTimeRange(start: .zero, duration: Self.second)
        func code(_ range: MediaTimeRange, at time: MediaTime = .zero, into id: Int) -> MediaError.Code? {
            errorCode {
                var copy = composition
                try copy.insertTimeRange(range, of: video, in: asset, at: time, into: id)
            }
        }
        #expect(code(range, into: id) == nil)
        #expect(code(range, into: sound) == .invalidArgument)
        #expect(code(range, into: 77) == .noSuchTrack)
        #expect(code(range, at: -Self.second, into: id) == .invalidArgument)
        #expect(code(range, at: .positiveInfinity, into: id) == .invalidArgument)
        #expect(code(MediaTimeRange(start: .zero, duration: .zero), into: id) == .invalidArgument)
        #expect(code(MediaTimeRange(start: -Self.second, duration: Self.second), into: id) == .invalidArgument)
        #expect(code(MediaTimeRange(start: .zero, duration: .indefinite), into: id) == .invalidArgument)
        #expect(code(.invalid, into: id) == .invalidArgument)
        #expect(errorCode { try composition.addTrack(mediaType: .attachment) } == .unsupported)
        #expect(errorCode { try composition.scaleTimeRange(range, toDuration: .zero) } == .invalidArgument)
        let foreign = try Media.track(Media.asset("vfr.mp4"), .video)
        #expect(
            errorCode { try composition.insertTimeRange(range, of: foreign, in: asset, at: .zero, into: id) }
                == .invalidArgument)
        let text = try Media.asset("aac.m4a")
        #expect(errorCode { try composition.insertTimeRange(range, of: text, at: .zero) } == nil)
    }
}
