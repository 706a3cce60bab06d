import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The sync sample nearest to a moment, in containers that do not say truly when sync samples are shown.
///
/// Expected are the keyframes of ffmpeg's decode at ffprobe's times.
@Suite struct SyncSampleImagesTests {
    private struct Frame {
        var time: MediaTime
        var isKey: Bool
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let x264 = ["libx264", "-preset", "ultrafast", "-bf", "2", "-g", "12"]
    private static let mpeg4 = ["mpeg4", "-q:v", "5", "-g", "15", "-bf", "2"]

    static let files: [(name: String, video: [String])] = [
        // Packets of sync samples without presentation times.
        ("a.asf", x264), ("b.asf", mpeg4), ("a.avi", x264), ("b.avi", mpeg4), ("a.h264", x264),
        ("a.m2v", ["mpeg2video", "-q:v", "4", "-g", "12", "-bf", "2"]), ("a.vob", x264),
        // The decode times in place of them.
        ("a.mxf", x264),
        // Decode times that libavformat makes up.
        (
            "a.mkv",
            ["libx265", "-preset", "medium", "-x265-params", "log-level=none:keyint=12:bframes=4:b-pyramid=1:pools=1"]
        ),
        // Places to begin at whose pictures are none.
        ("a.ts", ["libx264", "-preset", "ultrafast", "-x264-params", "keyint=20:intra-refresh=1:bframes=2"]),
    ]

    @Test(arguments: files.indices) func theNearestOneIsFoundAndLastsAsLongAsItIsShown(_ place: Int) throws {
        let (name, video) = Self.files[place]
        let path = folder.path(name)
        _ = try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=2", "-c:v"] + video + ["-threads", "1", path])
        let asset = Asset(path: FilePath(path))
        let frames = try frames(path)
        let keys = frames.indices.filter { frames[$0].isKey }
        try #require(frames.count >= 48 && !keys.isEmpty)
        for threads in [1, 2] {
            let generator = ImageGenerator(asset: asset)
            generator.configuration.threads = threads
            for asked in stride(from: threads, to: frames.count - 1, by: 9) {
                let time = (frames[asked].time + frames[asked + 1].time).multiplied(by: 1, dividedBy: 2)
                func distance(_ key: Int) -> MediaTime { (frames[key].time - time).absoluteValue }
                let best = try #require(keys.min { distance($0) < distance($1) })
                let found = try generator.generateNow(at: time)
                #expect(found.actualTime == frames[best].time && found.isKeyframe, "\(name): at \(time)")
                if best + 1 < frames.count {
                    #expect(found.duration == frames[best + 1].time - frames[best].time, "\(name): at \(time)")
                }
            }
        }
    }

    /// The last sync sample of an AVI with B-frames comes out of the decoder with the end of the file, without a time stamp.
    @Test func anExactImageNearTheEndIsFoundWithoutTimeStamps() throws {
        let path = folder.path("a.avi")
        _ = try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=2", "-c:v"] + Self.x264
                + ["-threads", "1", path])
        let frames = try frames(path)
        for threads in [1, 2] {
            let generator = ImageGenerator(asset: Asset(path: FilePath(path)))
            generator.configuration.requestedTimeToleranceBefore = .zero
            generator.configuration.requestedTimeToleranceAfter = .zero
            generator.configuration.threads = threads
            for place in [frames.count - 3, frames.count - 2, 20, frames.count - 4] {
                #expect(try generator.generateNow(at: frames[place].time).actualTime == frames[place].time)
            }
        }
    }

    /// When the pictures are shown that ffmpeg decodes; one without a time stamp follows the one before it by a frame.
    private func frames(_ path: String) throws -> [Frame] {
        let base = try FFmpeg.probe([
            "-select_streams", "v:0", "-show_entries", "stream=time_base", "-of", "default=nk=1:nw=1", path,
        ])[0].split(separator: "/").compactMap { Int64($0) }
        let lines = try FFmpeg.probe([
            "-threads", "1", "-select_streams", "v:0", "-show_entries", "frame=key_frame,best_effort_timestamp", "-of",
            "csv=p=0", path,
        ]).map { $0.split(separator: ",", omittingEmptySubsequences: false) }.filter { $0.count > 1 }
        let frame = MediaTime(value: 1, timescale: 25)
        let start =
            try FFmpeg.probe([
                "-select_streams", "v:0", "-show_entries", "stream=start_pts", "-of", "default=nk=1:nw=1", path,
            ]).compactMap { Int64($0) }.first ?? 0
        var found: [Frame] = []
        for line in lines {
            let stamped = Int64(line[1]).map {
                MediaTime(value: ($0 - start) * base[0], timescale: Int32(clamping: base[1]))
            }
            let last = found.last?.time
            var time = stamped ?? last.map { $0 + frame } ?? .zero
            // ffmpeg's MXF gives the last pictures the times of others before them: they are on screen for no time.
            if let last, time < last { continue }
            if time == last { time = time + frame }
            found.append(Frame(time: time, isKey: line[0] == "1"))
        }
        return found
    }
}
