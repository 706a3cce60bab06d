import AssetKit
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

/// Jobs on assets that are put together from others.
@Suite struct CompositionJobsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func range(_ start: Int64, _ end: Int64, _ scale: Int32) -> MediaTimeRange {
        MediaTimeRange(
            start: MediaTime(value: start, timescale: scale), end: MediaTime(value: end, timescale: scale))
    }

    @Test func theWaveformOfACompositionIsThatOfItsParts() throws {
        let source = Asset(path: FilePath(try Fixtures.path("pcm-s16-stereo.wav")))
        let track = try #require(try source.loadNow(.tracks).first)
        let rate = try #require(track.formatDescriptions.first?.audio.map { Int32(clamping: $0.sampleRate) })
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .audio)
        try composition.insertTimeRange(range(1000, 9000, rate), of: track, in: source, at: .zero, into: id)
        func report(_ asset: Asset, _ name: String, _ change: (inout WaveformOptions) -> Void) throws -> WaveformReport
        {
            var options = WaveformOptions()
            change(&options)
            let output = WaveformOutput(
                path: FilePath(folder.path(name)), format: .dat, scale: .level(.samplesPerPixel(50)))
            return try WaveformJob(asset: asset, options: options)
                .run([output], into: OutputFileSet(force: false, inputs: []))
        }
        let file = try report(source, "a.dat") {
            $0.start = .time(MediaTime(value: 1000, timescale: rate))
            $0.end = .time(MediaTime(value: 9000, timescale: rate))
        }
        let plain = try report(Asset(composition: composition), "b.dat") { _ in }
        let mixed = try report(
            Asset(rendering: composition, videoComposition: nil, audioMix: AudioMix()), "c.dat"
        ) { _ in }
        for made in [plain, mixed] {
            #expect(made.samples == 8000 && made.samples == file.samples)
            #expect(made.sampleRate == file.sampleRate && made.damage.isEmpty)
        }
        let bytes = try ["a.dat", "b.dat", "c.dat"].map { try folder.bytes($0) }
        #expect(bytes[0] == bytes[1] && bytes[0] == bytes[2])
    }

    @Test func imagesOfACompositionShowItsPictures() throws {
        let path = folder.path("a.mp4")
        try NumberedPictures.make(path, source: 1, rate: "25", count: 50)
        let source = Asset(path: FilePath(path))
        let track = try #require(try source.loadNow(.tracks).first)
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .video)
        try composition.insertTimeRange(range(20, 30, 25), of: track, in: source, at: .zero, into: id)
        try composition.insertTimeRange(
            range(3, 13, 25), of: track, in: source, at: MediaTime(value: 10, timescale: 25), into: id)
        let whole = try VideoComposition(propertiesOf: Asset(composition: composition))
        for asset in [
            Asset(composition: composition),
            try Asset(rendering: composition, videoComposition: whole, audioMix: nil),
        ] {
            let track = try #require(try asset.loadNow(.tracks).first)
            #expect(track.timeRange == range(0, 20, 25))
            var times = FrameTimes(asset, track: track, highest: .max)
            #expect(try times.time(of: 19) == MediaTime(value: 19, timescale: 25))
            #expect(throws: MediaError.self) { try times.time(of: 20) }
            let request = ThumbsRequest(times: .count(3))
            let sweep = FrameExtraction(asset, track: track, request: request, tolerance: .exact)
            var numbers: [Int] = []
            try sweep.run([2, 12, 13].map { MediaTime(value: $0, timescale: 25) }) { _, image throws(MediaError) in
                let image = try image.get().image
                let row = image.height / 2
                return NumberedPictures.number(
                    of: (0..<image.width).map { image.bytes[(row * image.width + $0) * 4] })
            } deliver: { _, number in
                numbers.append(number)
            }
            #expect(numbers == [256 + 22, 256 + 5, 256 + 6])
        }
    }
}
