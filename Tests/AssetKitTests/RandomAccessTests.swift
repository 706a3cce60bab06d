import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Exact images and readers' time ranges in each container, by the way that `ContainerFormat` states for it.
///
/// Expected pictures are those of ffmpeg's decode from the start with one thread, at ffprobe's times.
@Suite struct RandomAccessTests {
    private struct Frame {
        var time: MediaTime
        var sum: String
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Makes a file of moving pictures, with sound between them where a codec for it is named.
    private func make(_ name: String, _ video: [String], _ audio: [String] = []) throws -> Asset {
        try Self.make(name, video, audio, in: folder)
    }

    private static func make(
        _ name: String, _ video: [String], _ audio: [String] = [], in folder: TemporaryFolder
    ) throws -> Asset {
        let sound = ["-f", "lavfi", "-i", "sine=duration=6:sample_rate=48000"]
        _ = try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=6"] + (audio.isEmpty ? [] : sound) + ["-c:v"]
                + video + (audio.isEmpty ? [] : ["-c:a"] + audio) + ["-threads", "1", folder.path(name)])
        return Asset(path: FilePath(folder.path(name)))
    }

    private func frames(_ name: String, of asset: Asset) throws -> [Frame] {
        let path = folder.path(name)
        let track = try Media.track(asset, .video)
        let stamps = try FFmpeg.probe([
            "-threads", "1", "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp", "-of",
            "default=nk=1:nw=1", path,
        ]).map { Int64($0) }
        let sums = String(
            decoding: try FFmpeg.run([
                "-threads", "1", "-copyts", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-enc_time_base",
                "1/90000", "-f", "framemd5", "-",
            ]), as: UTF8.self
        ).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) } }
        try #require(stamps.count == sums.count && sums.count > 140)
        let base = try FFmpeg.probe([
            "-select_streams", "v:0", "-show_entries", "stream=time_base", "-of", "default=nk=1:nw=1", path,
        ])[0].split(separator: "/").compactMap { Int64($0) }
        let start = try #require(
            try FFmpeg.probe([
                "-select_streams", "v:0", "-show_entries", "stream=start_pts", "-of", "default=nk=1:nw=1", path,
            ]).compactMap { Int64($0) }.first)
        return zip(stamps, sums).compactMap { stamp, sum in
            stamp.map {
                Frame(
                    time: track.timeRange.start
                        + MediaTime(value: ($0 - start) * base[0], timescale: Int32(clamping: base[1])), sum: sum)
            }
        }
    }

    private static let x264 = ["libx264", "-preset", "ultrafast", "-bf", "2", "-g", "20"]
    private static let mpeg4 = ["mpeg4", "-q:v", "5", "-g", "15"]
    private static let mpeg2 = ["mpeg2video", "-q:v", "4", "-g", "12", "-bf", "2"]

    static let files: [(name: String, video: [String], audio: [String])] = [
        // An index whose sync samples hold.
        ("a.mov", x264, ["pcm_s16le"]), ("a.mkv", x264, ["mp2"]),
        // An index whose sync samples are proven.
        ("a.avi", mpeg4, ["mp2"]), ("b.avi", mpeg4 + ["-bf", "2"], ["mp2"]),
        ("c.avi", ["msmpeg4v2", "-g", "15"], ["mp2"]),
        // By byte.
        ("a.ts", mpeg2, ["mp2"]), ("a.mpg", mpeg2, ["mp2"]), ("a.flv", ["flv1", "-g", "15"], []),
        ("b.flv", x264, []), ("a.mxf", mpeg2, ["pcm_s16le"]),
        ("a.ivf", ["libvpx", "-deadline", "realtime", "-cpu-used", "8", "-g", "20"], []),
        // By time.
        ("a.wmv", ["wmv2", "-g", "15"], ["wmav2"]), ("b.wmv", ["msmpeg4", "-g", "15"], ["wmav2"]),
        ("c.asf", mpeg4, ["wmav2"]), ("a.ogv", ["libtheora", "-g", "20"], ["libvorbis"]), ("a.nut", x264, ["mp2"]),
        ("a.rm", ["rv20", "-g", "15"], ["ac3"]), ("a.wtv", mpeg2, ["mp2"]),
        // A gradual refresh has sync samples from which decoding does not begin.
        ("b.ts", ["libx264", "-preset", "ultrafast", "-x264-params", "keyint=20:intra-refresh=1:bframes=2"], []),
    ]

    @Test(arguments: files.indices) func picturesAreThoseOfAPlainDecode(_ place: Int) throws {
        let (name, video, audio) = Self.files[place]
        let asset = try make(name, video, audio)
        try check(name, asset, frames(name, of: asset))
    }

    private func check(_ name: String, _ asset: Asset, _ frames: [Frame]) throws {
        // Backward, so that each is gone to; then in leaps.
        let places = [140, 137, 111, 90, 64, 35, 12, 3] + [70, 20, 130, 50]
        for threads in [1, 2] {
            let generator = ImageGenerator(asset: Asset(path: FilePath(folder.path(name))))
            generator.configuration.requestedTimeToleranceBefore = .zero
            generator.configuration.requestedTimeToleranceAfter = .zero
            generator.configuration.threads = threads
            let found = try places.map { try generator.pixelBuffer(at: frames[$0].time) }
            #expect(found.map(\.actualTime) == places.map { frames[$0].time }, "\(name), \(threads) threads")
            #expect(try md5(found.map(\.picture)) == places.map { frames[$0].sum }, "\(name), \(threads) threads")
        }
    }

    /// Every picture of an AVI may be called a keyframe, as some programs write it.
    @Test func anIndexThatLiesIsNotBelieved() throws {
        let name = "lies.avi"
        let asset = try make("plain.avi", Self.mpeg4)
        let frames = try frames("plain.avi", of: asset)
        var bytes = try folder.bytes("plain.avi")
        let start = try #require(bytes.indices.last { bytes[$0...].starts(with: Array("idx1".utf8)) })
        for entry in stride(from: start + 8, to: bytes.count - 15, by: 16) { bytes[entry + 4] |= 0x10 }
        try folder.write(name, bytes)
        let lying = Asset(path: FilePath(folder.path(name)))
        try check(name, lying, frames)
        // A reader that begins in the middle delivers the same.
        let from = frames[100].time
        let buffers = try Media.all(
            TrackOutput(track: Media.track(lying, .video), videoSettings: VideoSettings()), of: lying,
            in: MediaTimeRange(start: from, duration: MediaTime(value: 1, timescale: 5)))
        #expect(buffers.map(\.presentationTime) == frames[100..<105].map(\.time))
        #expect(try md5(buffers.compactMap(\.pixelBuffer)) == frames[100..<105].map(\.sum))
    }

    /// A part of a stream that begins with pictures that are shown before its first sync sample and refer to no earlier ones.
    @Test func picturesBeforeTheFirstSyncSampleAreFoundAgain() throws {
        let whole = folder.path("whole.mov")
        _ = try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=7", "-c:v"] + Self.mpeg2 + [
                "-threads", "1", whole,
            ])
        // closed_gop in each header of a group of pictures (ISO/IEC 13818-2, 6.2.2.6), so that they are decoded.
        var bytes = try folder.bytes("whole.mov")
        let groups = bytes.indices.dropLast(7).filter { bytes[$0...].starts(with: [0, 0, 1, 0xB8]) }
        try #require(groups.count > 10)
        for group in groups { bytes[group + 7] |= 0x40 }
        try folder.write("closed.mov", bytes)
        _ = try FFmpeg.run(["-ss", "0.52", "-i", folder.path("closed.mov"), "-c", "copy", folder.path("part.mov")])
        let asset = Asset(path: FilePath(folder.path("part.mov")))
        let frames = try frames("part.mov", of: asset)
        try #require(frames[0].time == .zero)
        for threads in [1, 2] {
            let generator = ImageGenerator(asset: asset)
            generator.configuration.requestedTimeToleranceBefore = .zero
            generator.configuration.requestedTimeToleranceAfter = .zero
            generator.configuration.threads = threads
            // What was left out on the way to the first of them is asked for after it.
            let places = [2, 0, 30, 1, 0, 4, 3]
            let found = try places.map {
                try generator.pixelBuffer(at: frames[$0].time + MediaTime(value: 1, timescale: 100))
            }
            #expect(found.map(\.actualTime) == places.map { frames[$0].time }, "\(threads) threads")
            #expect(try md5(found.map(\.picture)) == places.map { frames[$0].sum }, "\(threads) threads")
        }
    }

    // MARK: - Time stamps that are missing or doubled

    private static func stamps(_ path: String) throws -> [Int64] {
        try FFmpeg.probe([
            "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp", "-of", "default=nk=1:nw=1", path,
        ]).compactMap { Int64($0) }
    }

    /// Whether this machine's ffmpeg writes and reads program streams with doubled time stamps; version 9's does not.
    private static let doublesTimeStamps: Bool = {
        guard let folder = try? TemporaryFolder(), (try? make("a.vob", x264, ["ac3"], in: folder)) != nil,
            let stamps = try? stamps(folder.path("a.vob"))
        else { return true }
        return Set(stamps).count < stamps.count
    }()

    /// ffmpeg's program streams give two pictures of H.264 with B-frames one time stamp, and others none.
    @Test(.enabled(if: doublesTimeStamps, "this ffmpeg makes no such file"))
    func picturesWithDoubledTimeStampsAreKept() throws {
        let asset = try make("a.vob", Self.x264, ["ac3"])
        let path = folder.path("a.vob")
        let stamps = try Self.stamps(path)
        try #require(Set(stamps).count < stamps.count, "the file has no doubled time stamps")
        let track = try Media.track(asset, .video)
        let buffers = try Media.all(TrackOutput(track: track, videoSettings: VideoSettings()), of: asset)
        let sums = String(
            decoding: try FFmpeg.run([
                "-threads", "1", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-",
            ]), as: UTF8.self
        ).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) } }
        #expect(try md5(buffers.compactMap(\.pixelBuffer)) == sums)
        #expect(zip(buffers, buffers.dropFirst()).allSatisfy { $0.presentationTime < $1.presentationTime })
        // An image of each of the first is that picture.
        let generator = ImageGenerator(asset: asset)
        generator.configuration.requestedTimeToleranceBefore = .zero
        generator.configuration.requestedTimeToleranceAfter = .zero
        let first = buffers.prefix(12)
        let images = try first.reversed().map { try generator.pixelBuffer(at: $0.presentationTime) }
        #expect(try md5(images.map(\.picture)) == sums.prefix(12).reversed())
    }
}
