import AssetKit
import MediaBase
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

/// Sweeps with any number of workers against the library's reader, which decodes every picture in order.
@Suite struct ThumbsSweepTests {
    /// A film of 42 s in small pictures, in which several workers have something to do.
    private static func film(_ name: String, _ options: [String], in folder: TemporaryFolder) throws -> FilePath {
        let path = folder.path + "/" + name
        _ = try FFmpeg.run(
            [
                "-f", "lavfi", "-i", "testsrc2=s=96x54:r=25", "-t", "42", "-c:v", "libx264", "-preset", "veryfast",
                "-pix_fmt", "yuv420p", "-threads", "1",
            ] + options + [path])
        return FilePath(path)
    }

    /// Every picture's time, in order, decoded one by one.
    private func frameTimes(_ path: FilePath) throws -> [MediaTime] {
        let asset = Asset(path: path)
        let reader = try AssetReader(asset: asset)
        let output = TrackOutput(track: try asset.loadNow(.tracks)[0], videoSettings: VideoSettings())
        try reader.add(output)
        try reader.startReading()
        var times: [MediaTime] = []
        while let buffer = try output.nextSampleBuffer() { times.append(buffer.presentationTime) }
        return times
    }

    private struct Made: Sendable, Equatable {
        var time: MediaTime?
        var duration: MediaTime?
        var isKeyframe: Bool?
        var pixels: [UInt8]?
    }

    private func sweep(
        _ path: FilePath, _ times: [MediaTime], threads: Int, tolerance: ThumbsRequest.Tolerance = .exact
    ) throws -> [Made] {
        let asset = Asset(path: path)
        var request = ThumbsRequest(times: .at([]))
        request.threads = threads
        request.maximumSize = Dimensions(width: 32, height: 0)
        let sweep = FrameExtraction(asset, track: try asset.loadNow(.tracks)[0], request: request, tolerance: tolerance)
        var made: [Made] = []
        try sweep.run(times) { _, result throws(MediaError) in
            guard let image = try? result.get() else { return Made() }
            return Made(
                time: image.actualTime, duration: image.duration, isKeyframe: image.isKeyframe,
                pixels: image.image.bytes)
        } deliver: { place, image throws(MediaError) in
            #expect(place == made.count)
            made.append(image)
        }
        return made
    }

    static let films: [(name: String, options: [String])] = [
        ("closed.mp4", ["-x264-params", "keyint=100:bframes=3:b-pyramid=normal"]),
        ("open.mp4", ["-x264-params", "keyint=60:min-keyint=60:scenecut=0:bframes=3:open-gop=1"]),
        ("variable.mkv", ["-vf", "select='not(mod(n,3)*mod(n,5))'", "-fps_mode", "vfr", "-g", "40"]),
        ("scanned.ts", ["-g", "75", "-bf", "2"]),
        ("mpeg2.mp4", ["-c:v", "mpeg2video", "-g", "12", "-bf", "2"]),
    ]

    @Test(arguments: films)
    func workersMakeTheSame(_ film: (name: String, options: [String])) throws {
        let folder = try TemporaryFolder()
        let path = try Self.film(film.name, film.options, in: folder)
        let frames = try frameTimes(path)
        let times = stride(from: 3, to: frames.count - 1, by: 17).map { place in
            (frames[place] + frames[place + 1]).multiplied(by: 1, dividedBy: 2)
        }
        let wanted = stride(from: 3, to: frames.count - 1, by: 17).map { frames[$0] }
        let first = try sweep(path, times, threads: 1)
        #expect(first.map(\.time) == wanted)
        #expect(
            first.map(\.duration)
                == stride(from: 3, to: frames.count - 1, by: 17).map { frames[$0 + 1] - frames[$0] })
        for threads in [2, 3, 8] { #expect(try sweep(path, times, threads: threads) == first) }
        // One by one and backwards, pictures are the same ones.
        let alone = try times.indices.reversed().prefix(10).map { try sweep(path, [times[$0]], threads: 1)[0] }
        #expect(alone == Array(first.reversed().prefix(10)))
        let near = ThumbsRequest.Tolerance.keyframe
        let keyframes = try sweep(path, times, threads: 1, tolerance: near)
        #expect(keyframes.allSatisfy { $0.isKeyframe == true })
        for threads in [2, 8] { #expect(try sweep(path, times, threads: threads, tolerance: near) == keyframes) }
    }

    @Test(arguments: [1, 2])
    func whatDeliveryThrowsEndsTheSweep(threads: Int) throws {
        let folder = try TemporaryFolder()
        let path = try Self.film("film.mp4", ["-g", "50"], in: folder)
        let asset = Asset(path: path)
        var request = ThumbsRequest(times: .at([]))
        request.threads = threads
        let sweep = FrameExtraction(asset, track: try asset.loadNow(.tracks)[0], request: request, tolerance: .exact)
        let prepared = Mutex(0)
        var delivered: [Int] = []
        let error = #expect(throws: MediaError.self) {
            try sweep.run((0..<42).map { MediaTime(value: $0, timescale: 1) }) { _, _ throws(MediaError) in
                prepared.withLock { $0 += 1 }
            } deliver: { place, _ throws(MediaError) in
                if place == 5 { throw MediaError(.inputOutput, "full") }
                delivered.append(place)
            }
        }
        #expect(error?.message == "full")
        #expect(delivered == Array(0..<5))
    }

    @Test func timesOutsideAreErrorsAmongOthers() throws {
        let folder = try TemporaryFolder()
        let path = try Self.film("film.mp4", ["-g", "50"], in: folder)
        let times = [-1, 1, 20, 41, 100].map { MediaTime(value: $0, timescale: 1) }
        for tolerance in [ThumbsRequest.Tolerance.exact, .keyframe] {
            let made = try sweep(path, times, threads: 2, tolerance: tolerance)
            #expect(made.map { $0.time == nil } == [true, false, false, false, true])
        }
    }
}
