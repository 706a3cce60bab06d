import AssetKit
import Foundation
import Peaks
import SystemPackage
import TestSupport
import Testing

/// The articles of the documentation: their code stands in the files beside this one, and does what they say.
@Suite struct ArticlesTests {
    @Test(arguments: ["ReadingAudio", "DrawingAWaveform", "MakingThumbnails", "WorkingWithMetadata", "Reencoding"])
    func theCodeIsWhatIsCompiled(article: String) throws {
        let text = try String(
            contentsOfFile: Repository.path("Sources/AssetKit/AssetKit.docc/\(article).md"), encoding: .utf8)
        let source = try String(
            contentsOfFile: Repository.path("Tests/AssetKitTests/Articles/\(article).swift"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(blocks == [source])
    }

    @Test func metadata() async throws {
        let asset = try Media.asset("artwork.m4a")
        try await listMetadata(asset)
        let (titles, cover, names) = try await findMetadata(asset)
        #expect(titles.map(\.identifier) == [.iTunesMetadataSongName])
        #expect(cover?.isEmpty == false && names.isEmpty)
        let folder = try TemporaryFolder()
        let writer = try AssetWriter(path: FilePath(folder.path("a.m4a")), fileType: .m4a)
        describe(writer, cover: try #require(cover))
        #expect(writer.metadata.map(\.dataType).prefix(2) == [.utf8, .utf8])
    }

    @Test func readingAudio() async throws {
        // Half a second of silence, then a tone whose level ffmpeg is told.
        let folder = try TemporaryFolder()
        let path = folder.path("tone.wav")
        let tone = "aevalsrc='if(gte(t,0.5),0.25*sin(2*PI*1000*t),0)':s=48000:d=1"
        _ = try FFmpeg.run(["-f", "lavfi", "-i", tone, "-c:a", "pcm_f32le", path])
        let loudest = try await loudestSample(of: FilePath(path))
        #expect(abs(loudest.level - 0.25) < 0.0001)
        // A quarter of a period behind the beginning: 12 samples.
        #expect(loudest.time == MediaTime(value: 24012, timescale: 48000))
    }

    @Test func drawingAWaveform() async throws {
        let path = FilePath(try Fixtures.path("pcm-s16-silent.wav"))
        let peaks = try await measurePeaks(of: path, samplesPerPixel: 512)
        #expect(peaks.channels == 1 && peaks.length > 10 && peaks.data.allSatisfy { $0 == 0 })
        let picture = try draw(peaks, height: 65, color: .black)
        #expect(picture.width == peaks.length && picture.height == 65)
        for x in 0..<picture.width {
            #expect((0..<65).filter { picture[x, $0] == .black } == [31])
        }
    }

    @Test func makingThumbnails() async throws {
        // 75 pictures at 25 a second, 160 by 90.
        let images = try await thumbnails(of: FilePath(try Fixtures.path("av.mp4")), count: 3, width: 80)
        #expect(images.count == 3)
        for (image, centre) in zip(images, [0.5, 1.5, 2.5]) {
            #expect(image.time.seconds <= centre + 0.001 && image.time.seconds > centre - 0.041)
            #expect(image.jpeg.starts(with: [0xFF, 0xD8]))
        }
    }

    @Test func reencoding() async throws {
        let folder = try TemporaryFolder()
        let target = folder.path("copy.mp4")
        try await reencode(FilePath(try Fixtures.path("av.mp4")), to: FilePath(target), height: 44)
        let streams = try FFmpeg.probe([
            "-show_entries", "stream=codec_name,width,height,nb_frames", "-of", "csv=p=0", target,
        ])
        #expect(streams.first == "h264,78,44,75" && streams.dropFirst().first?.hasPrefix("aac") == true, "\(streams)")
    }
}
