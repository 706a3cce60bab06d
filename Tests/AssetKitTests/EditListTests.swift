import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Edit lists of MP4 and QuickTime, against what their entries say of numbered pictures and numbered samples.
@Suite struct EditListTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// An edit list in units of a picture, whose first entry counts.
    struct List: Sendable, CustomStringConvertible {
        let description: String
        /// Duration, where in the media it begins (`nil` for an empty one), and the rate; in pictures.
        let entries: [(duration: Double, media: Double?, rate: Double)]
    }

    static let lists: [List] = [
        List(description: "whole", entries: [(50, 0, 1)]),
        List(description: "inside a picture", entries: [(20, 7.5, 1)]),
        List(description: "late, inside a picture", entries: [(4, nil, 1), (20, 13.25, 1)]),
        List(description: "long before it", entries: [(100, nil, 1), (30, 2, 1)]),
        List(description: "parts that go on", entries: [(10, 3, 1), (10, 13, 1), (5.5, 23, 1)]),
        List(description: "parts in another order", entries: [(8, 30.5, 1), (10, 3, 1), (5, 14, 1)]),
        List(description: "a part twice", entries: [(9, 11, 1), (9, 11, 1)]),
        List(description: "empty in the middle", entries: [(10, 20, 1), (5, nil, 1), (10, 5, 1)]),
        List(description: "fast", entries: [(10, 4, 2)]),
        List(description: "slow, then fast", entries: [(12, 25, 0.5), (6, 1, 2)]),
        List(description: "standing still", entries: [(10, 2, 1), (15, 30.5, 0), (5, 31, 1)]),
    ]

    /// Ticks of one picture, and where the first one lies in the media because B-frames delay it.
    private static let (ticks, delay) = (512, 1024)

    /// A movie of 50 pictures at 25 a second, with a list in the place of its own.
    private func movie(_ list: List) throws -> Asset {
        let plain = folder.path("plain.mov")
        if !FileManager.default.fileExists(atPath: plain) {
            try NumberedPictures.make(
                plain, source: 0, rate: "25", count: 50,
                options: ["-video_track_timescale", "12800", "-movie_timescale", "12800"])
        }
        let entries = list.entries.map { entry in
            EditList.Entry(
                Int(entry.duration * Double(Self.ticks)),
                entry.media.map { Int($0 * Double(Self.ticks)) + Self.delay } ?? -1, rate: entry.rate)
        }
        let bytes = try EditList.replacing(entries, in: folder.bytes("plain.mov"))
        let name = list.description.replacing(" ", with: "-") + ".mov"
        return Asset(path: FilePath(try folder.write(name, bytes)))
    }

    /// Each picture with its start and number, and where the last one ends; gaps end with `nil`.
    private func expected(_ list: List) -> [(start: Double, number: Int?)] {
        var result: [(start: Double, number: Int?)] = []
        var time = 0.0
        for entry in list.entries {
            defer { time += entry.duration }
            guard let media = entry.media else {
                result.append((time, nil))
                continue
            }
            result.append((time, Int(media)))
            guard entry.rate > 0 else { continue }
            var number = Int(media) + 1
            while time + (Double(number) - media) / entry.rate < time + entry.duration, number < 50 {
                result.append((time + (Double(number) - media) / entry.rate, number))
                number += 1
            }
        }
        return result
    }

    private func time(_ pictures: Double) -> MediaTime {
        MediaTime(value: Int64(pictures * Double(Self.ticks)), timescale: 12800)
    }

    @Test(arguments: lists) func picturesComeWhenTheListSays(list: List) throws {
        let asset = try movie(list)
        let track = try Media.track(asset, .video)
        let output = TrackOutput(track: track, videoSettings: VideoSettings())
        let buffers = try Media.all(output, of: asset)
        let wanted = expected(list)
        let shown = buffers.compactMap { buffer in
            buffer.pixelBuffer.map { (buffer.presentationTime, Numbered.number(of: $0)) }
        }
        let pictures = wanted.compactMap { entry in entry.number.map { (time(entry.start), $0) } }
        #expect(shown.map(\.0) == pictures.map(\.0))
        #expect(shown.map(\.1) == pictures.map(\.1))
        let end = list.entries.reduce(0) { $0 + $1.duration }
        #expect(track.timeRange.end == time(end))
        #expect(buffers.last.map { $0.presentationTime + $0.duration } == time(end))
    }

    @Test(arguments: lists, [1, 3]) func imagesAreThoseOfTheList(list: List, threads: Int) throws {
        let wanted = expected(list)
        let end = list.entries.reduce(0) { $0 + $1.duration }
        let ends = wanted.dropFirst().map(\.start) + [end]
        let moments = zip(wanted, ends).compactMap { entry, end in
            entry.number.map { (moment: (entry.start + end) / 2, start: entry.start, number: $0) }
        }
        let orders = [moments, moments.reversed(), moments.shuffled()]
        for order in orders {
            let generator = ImageGenerator(asset: try movie(list))
            generator.configuration.requestedTimeToleranceBefore = .zero
            generator.configuration.requestedTimeToleranceAfter = .zero
            generator.configuration.threads = threads
            let images = try order.map { try generator.pixelBuffer(at: time($0.moment)) }
            #expect(images.map { Numbered.number(of: $0.picture) } == order.map(\.number))
            #expect(images.map(\.actualTime) == order.map { time($0.start) })
        }
    }

    /// Every twelfth picture is a keyframe; the nearest one that the list shows is taken, the earlier one of two.
    @Test(arguments: lists) func theNearestKeyframesAreThoseOfTheList(list: List) throws {
        let shown = expected(list).compactMap { entry in entry.number.map { (start: entry.start, number: $0) } }
        let keyframes = shown.filter { $0.number.isMultiple(of: 12) }
        let generator = ImageGenerator(asset: try movie(list))
        for (start, number) in shown.shuffled() {
            let near = keyframes.min { (abs($0.start - start), $0.start) < (abs($1.start - start), $1.start) }
            let image = try generator.pixelBuffer(at: time(start))
            #expect(Numbered.number(of: image.picture) == near?.number ?? number, "at \(start)")
            #expect(image.actualTime == time(near?.start ?? start), "at \(start)")
        }
    }

    @Test(arguments: lists) func rangesAreRead(list: List) throws {
        let asset = try movie(list)
        let track = try Media.track(asset, .video)
        let wanted = expected(list).filter { $0.number != nil }
        let start = wanted[wanted.count / 2].start
        let output = TrackOutput(track: track, videoSettings: VideoSettings())
        let range = MediaTimeRange(start: time(start), duration: .positiveInfinity)
        let numbers = try Media.all(output, of: asset, in: range).compactMap { $0.pixelBuffer.map(Numbered.number) }
        #expect(numbers == wanted.filter { $0.start >= start }.compactMap(\.number))
    }

    @Test(arguments: lists) func aScanCountsEachSampleOnce(list: List) throws {
        let statistics = try movie(list).packetStatistics()[0]
        #expect(statistics?.frameCount == 50)
        #expect(statistics?.frameDuration.minimum == time(1))
    }

    /// Chapters of a track that is shown half a second late, from a quarter of a second of its media on.
    @Test func chaptersAreThoseOfTheirTracksEdits() throws {
        let plain = try Media.asset("chapters.mp4").loadNow(.chapters).map(\.timeRange)
        #expect(plain.count == 2)
        let movie = try EditList.replacing(
            [.init(500, -1), .init(2750, 250)], ofTrack: 2, in: Fixtures.bytes("chapters.mp4"))
        let asset = Asset(path: FilePath(try folder.write("late.mp4", movie)))
        func moved(_ time: MediaTime) -> MediaTime {
            let shift = MediaTime(value: 250, timescale: 1000)
            return max(time + shift, shift + shift)
        }
        let wanted = plain.map { MediaTimeRange(start: moved($0.start), end: moved($0.end)) }
        #expect(try asset.loadNow(.chapters).map(\.timeRange) == wanted)
    }

    // MARK: Sound

    /// Samples of sound whose values count from 0, by their edits in samples; rates are 1.
    static let soundLists: [List] = [
        List(description: "inside a packet", entries: [(10_000, 1234, 1)]),
        List(description: "late", entries: [(777, nil, 1), (9000, 3001, 1)]),
        List(description: "several parts", entries: [(5001, 9000, 1), (1, 20, 1), (4000, nil, 1), (6000, 100, 1)]),
        List(description: "to the end of the media", entries: [(100, nil, 1), (30_000, 25_000, 1)]),
    ]

    @Test(arguments: soundLists, ["pcm_s16le", "alac"])
    func samplesComeWhereTheListSays(list: List, codec: String) throws {
        let count = 30_000
        let ramp = (0..<count).map { Int16(truncatingIfNeeded: $0) }
        let source = try WrittenSound("ramp.wav", in: folder, samples: ramp, rate: 48_000)
        let plain = folder.path("plain.mov")
        _ = try FFmpeg.run([
            "-i", source.path, "-c:a", codec, "-movie_timescale", "48000", plain,
        ])
        let entries = list.entries.map { EditList.Entry(Int($0.duration), $0.media.map { Int($0) } ?? -1) }
        let path = try folder.write("edited.mov", EditList.replacing(entries, in: folder.bytes("plain.mov")))
        var wanted: [Int16] = []
        for entry in list.entries {
            let first = entry.media.map { Int($0) } ?? count
            let part = first < count ? ramp[first..<min(count, first + Int(entry.duration))] : []
            wanted += part
            // What the media does not have at the end is not filled.
            if entry.duration == list.entries.last?.duration, part.count < Int(entry.duration) { continue }
            wanted += [Int16](repeating: 0, count: Int(entry.duration) - part.count)
        }
        let asset = Asset(path: FilePath(path))
        let track = try Media.track(asset, .audio)
        let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
        let sound = try PlacedSound(Media.all(output, of: asset), format: .int16)
        #expect(sound.overlaps == 0)
        #expect(sound.bytes == wanted.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
        let end = list.entries.reduce(0) { $0 + $1.duration }
        #expect(track.timeRange.end == MediaTime(value: Int64(end), timescale: 48_000))
    }
}
