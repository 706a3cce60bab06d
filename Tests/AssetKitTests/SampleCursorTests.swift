import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Positions in the stored samples of a track.
@Suite struct SampleCursorTests {
    private static let fixtures =
        ((try? FileManager.default.contentsOfDirectory(atPath: Fixtures.folder)) ?? [])
        .filter { name in
            ["mp4", "mov", "m4a", "mkv", "webm", "ts", "avi", "mpg", "mp3", "opus", "wav"].contains {
                name.hasSuffix("." + $0)
            }
        }
        .filter {
            !$0.hasPrefix("truncated-header") && $0 != "concat-list.wav" && $0 != "hls-list.mp4" && $0 != "text.mp4"
                && $0 != "empty.mp4"
        }
        .sorted()

    private func cursor(_ track: AssetTrack, _ time: MediaTime = .negativeInfinity) throws -> SampleCursor {
        try #require(try track.makeSampleCursorNow(presentationTime: time))
    }

    /// What a cursor and a buffer both say of a sample.
    private struct Sample: Equatable {
        var presentation: MediaTime
        var decode: MediaTime?
        var duration: MediaTime
        var isSync: Bool
        var isShown: Bool
        var size: Int

        init(_ cursor: SampleCursor) {
            (presentation, decode, duration) = (cursor.presentationTime, cursor.decodeTime, cursor.duration)
            (isSync, isShown, size) = (cursor.isSync, cursor.isShown, cursor.size)
        }

        init(_ buffer: SampleBuffer) {
            (presentation, decode) = (buffer.presentationTime, buffer.decodeTime)
            (duration, isSync) = (buffer.duration, buffer.isSync)
            (isShown, size) = (!buffer.attachments.contains(.isNotShown), buffer.storedSample?.size ?? -1)
        }
    }

    /// `TrackOutput`'s stored samples are ffprobe's packets: StoredPipelineTests.
    @Test(arguments: fixtures) func hasTheSamplesThatAReaderDelivers(fixture: String) throws {
        let asset = try Media.asset(fixture)
        for track in try asset.loadNow(.tracks) {
            let buffers = try Media.all(TrackOutput(track: track), of: asset)
            guard var cursor = try track.makeSampleCursorNow(presentationTime: .negativeInfinity) else {
                #expect(buffers.isEmpty, "track \(track.index)")
                continue
            }
            cursor.stepInDecodeOrder(by: .min)
            #expect(cursor.sampleNumber == 0 && cursor.sampleCount == buffers.count, "track \(track.index)")
            var samples = [Sample(cursor)]
            while cursor.stepInDecodeOrder(by: 1) == 1 { samples.append(Sample(cursor)) }
            let differing = zip(samples, buffers.map { Sample($0) }).enumerated().first { $0.element.0 != $0.element.1 }
            #expect(differing == nil, "track \(track.index): \(String(describing: differing))")
            #expect(cursor.stepInDecodeOrder(by: 1) == 0 && cursor.stepInDecodeOrder(by: .max) == 0)
        }
    }

    /// The frames in presentation order, and which is on screen at a time, by ffprobe's tables.
    @Test(arguments: [
        "av.mp4", "h264-bframes.mp4", "hevc-10bit.mp4", "vfr.mp4", "h264-aac.mkv", "mpegts-10s.ts", "late-video.mp4",
    ])
    func presentationOrderIsThatOfFrames(fixture: String) throws {
        let table = try FrameTable(fixture)
        let track = try Media.track(Media.asset(fixture), .video)
        var cursor = try cursor(track)
        while !cursor.isShown { cursor.stepInPresentationOrder(by: 1) }
        var times: [MediaTime] = []
        var syncs: [Bool] = []
        repeat {
            times.append(cursor.presentationTime)
            syncs.append(cursor.isSync)
        } while cursor.stepInPresentationOrder(by: 1) == 1
        #expect(times == table.frames.map(\.time))
        #expect(syncs == table.frames.map(\.isKey))
        for (place, frame) in table.frames.enumerated() {
            let exact = try self.cursor(track, frame.time)
            #expect(exact.presentationTime == frame.time)
            let later = try self.cursor(track, frame.time + MediaTime(value: 1, timescale: 100_000))
            #expect(later.presentationTime == frame.time)
            var moved = exact
            #expect(moved.stepInPresentationOrder(by: -place) == -place)
            #expect(moved.presentationTime == table.frames[0].time)
            #expect(
                moved.stepByPresentationTime(frame.time - moved.presentationTime) == frame.time - table.frames[0].time)
            #expect(moved == exact)
        }
        #expect(try self.cursor(track, .positiveInfinity).presentationTime == table.frames.last?.time)
        #expect(try self.cursor(track, .negativeInfinity).presentationTime <= table.frames[0].time)
    }

    /// The place of each sample in the file, by ffprobe, and its bytes.
    @Test(arguments: [
        "av.mp4", "h264-bframes.mp4", "fragmented.mp4", "alac.m4a", "prores.mov", "timecode-25.mov",
    ])
    func samplesLieWhereFFprobeSays(fixture: String) throws {
        let asset = try Media.asset(fixture)
        let bytes = try Fixtures.bytes(fixture)
        for track in try asset.loadNow(.tracks) {
            let lines = try FFmpeg.probe([
                "-ignore_editlist", "1", "-select_streams", "\(track.index)", "-show_entries", "packet=pos,size", "-of",
                "csv=p=0",
                Fixtures.path(fixture),
            ])
            let buffers = try Media.all(TrackOutput(track: track), of: asset)
            guard var cursor = try track.makeSampleCursorNow(presentationTime: .negativeInfinity) else { continue }
            cursor.stepInDecodeOrder(by: .min)
            var found: [String] = []
            repeat {
                let range = try #require(cursor.storageRange)
                found.append("\(range.count),\(range.lowerBound)")
                let stored = buffers[cursor.sampleNumber].storedSample?.withBytes { span in
                    (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
                }
                #expect(stored == Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
            } while cursor.stepInDecodeOrder(by: 1) == 1
            let wanted = lines.map { line in line.split(separator: ",").prefix(2).joined(separator: ",") }
            #expect(found == wanted, "\(fixture) track \(track.index)")
        }
        #expect(try cursor(Media.track(Media.asset("h264-aac.mkv"), .video)).storageRange == nil)
    }

    @Test func decodeTimesLeadToSamples() throws {
        let track = try Media.track(Media.asset("h264-bframes.mp4"), .video)
        var cursor = try cursor(track)
        cursor.stepInDecodeOrder(by: .min)
        let first = cursor
        var last = cursor
        last.stepInDecodeOrder(by: .max)
        #expect(first < last && !(last < first) && first != last)
        let whole = try #require(last.decodeTime) - #require(first.decodeTime)
        #expect(cursor.stepByDecodeTime(whole) == whole && cursor == last)
        #expect(cursor.stepByDecodeTime(.zero - whole - whole) == .zero - whole && cursor == first)
        cursor.stepInDecodeOrder(by: 7)
        let back = try #require(cursor.decodeTime) - #require(first.decodeTime)
        // A moment less than seven samples further is still the sixth.
        var other = first
        other.stepByDecodeTime(back - MediaTime(value: 1, timescale: 90_000))
        #expect(other.sampleNumber == 6)
    }

    /// The samples at any cursor, in any order, are those of a pass from the start.
    @Test(arguments: [
        "av.mp4", "h264-bframes.mp4", "h264-opengop.mp4", "h264-opengop.ts", "h264-aac.mkv", "mpegts-10s.ts",
        "mjpeg.avi",
        "opus.webm", "fragmented.mp4", "pcm-s16-stereo.wav", "mid-gop-edit.mp4", "vp9-alpha.webm", "mp3-lame.mp3",
    ])
    func samplesAreReadAtCursors(fixture: String) throws {
        func bytes(_ buffer: SampleBuffer) -> [UInt8] {
            buffer.storedSample?.withBytes { span in
                (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
            } ?? []
        }
        let asset = try Media.asset(fixture)
        for track in try asset.loadNow(.tracks) where !track.isAttachedPicture {
            let all = try Media.all(TrackOutput(track: track), of: asset)
            let generator = SampleBufferGenerator(asset: asset)
            var cursor = try cursor(track)
            // Back and forth, and on from where the last request ended.
            for place in [all.count - 1, 0, all.count / 2, all.count / 2 + 3, all.count / 3, all.count / 3 + 1] {
                cursor.stepInDecodeOrder(by: .min)
                cursor.stepInDecodeOrder(by: place)
                let found = try generator.makeSampleBuffersNow(from: cursor, count: 3)
                let wanted = all.dropFirst(cursor.sampleNumber).prefix(3)
                #expect(found.map { Sample($0) } == wanted.map { Sample($0) }, "track \(track.index), \(place)")
                #expect(found.map(bytes) == wanted.map(bytes), "track \(track.index), \(place)")
            }
        }
    }

    @Test func cursorsOfOtherFilesAreRefused() async throws {
        let generator = SampleBufferGenerator(asset: try Media.asset("av.mp4"))
        let other = try cursor(Media.track(Media.asset("h264-bframes.mp4"), .video))
        #expect(errorCode { try generator.makeSampleBuffersNow(from: other) } == .invalidArgument)
        let own = try cursor(Media.track(generator.asset, .video))
        #expect(try await generator.makeSampleBuffers(from: own).map(\.presentationTime) == [own.presentationTime])
    }

    @Test func tracksOfCompositionsHaveNone() throws {
        let source = try Media.asset("av.mp4")
        var composition = Composition()
        try composition.insertTimeRange(
            MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1)), of: source, at: .zero)
        let track = try Media.track(Asset(composition: composition), .video)
        #expect(errorCode { try track.makeSampleCursorNow(presentationTime: .zero) } == .unsupported)
    }

    @Test func asynchronouslyTheSame() async throws {
        let track = try Media.track(Media.asset("av.mp4"), .video)
        let time = MediaTime(value: 1, timescale: 1)
        let cursor = try await track.makeSampleCursor(presentationTime: time)
        #expect(try cursor == self.cursor(track, time) && cursor?.presentationTime == time)
    }
}
