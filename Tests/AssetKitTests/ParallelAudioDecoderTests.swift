import AssetKit
import Foundation
import MediaBase
import SystemPackage
import TestSupport
import Testing

/// Audio decoded in small chunks against the same decoded in one go.
@Suite struct ParallelAudioDecoderTests {
    struct Read: Equatable {
        var bytes: [UInt8] = []
        var times: [MediaTime] = []
        var cut: Int64 = 0
        var damage = DamageReport()
    }

    struct Frame {
        let bytes: [UInt8]
        let count: Int
    }

    /// Keeps all samples.
    struct Keeper: AudioReducer {
        private var frames: [Frame] = []
        mutating func append(_ audio: AudioBuffer) {
            frames.append(Frame(bytes: ParallelAudioDecoderTests.bytes(audio), count: audio.sampleCount))
        }
        mutating func finish() -> [Frame] {
            defer { frames = [] }
            return frames
        }
    }

    private func read(
        _ path: String, chunkBytes: Int?, threads: Int, reduces: Bool = false, withVideo: Bool = false,
        range: MediaTimeRange? = nil
    ) throws -> Read {
        let asset = Asset(path: FilePath(path))
        let track = try Media.track(asset, .audio)
        let output =
            reduces
            ? TrackOutput(track: track, reducedBy: { Keeper() })
            : TrackOutput(track: track, audioSettings: AudioSettings())
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = threads
        if let range { reader.timeRange = range }
        if let chunkBytes {
            reader.decodesAudioInChunks = true
            reader.chunkBytes = chunkBytes
        }
        if withVideo { try reader.add(TrackOutput(track: Media.track(asset, .video), videoSettings: VideoSettings())) }
        try reader.add(output)
        try reader.startReading()
        var result = Read()
        func keep(_ buffer: SampleBuffer) {
            guard let audio = buffer.audioBuffer else { return }
            result.times.append(buffer.presentationTime)
            result.bytes += Self.bytes(audio)
        }
        guard reduces else {
            while let buffer = try output.nextSampleBuffer() { keep(buffer) }
            return finished()
        }
        while let audio = try output.nextAudio(reducedTo: [Frame].self) {
            switch audio {
            case .samples(let buffer): keep(buffer)
            case .reduced(let audio):
                var place = audio.presentationTime
                for frame in audio.partial {
                    result.times.append(place)
                    result.bytes += frame.bytes
                    place = place + MediaTime(value: Int64(frame.count), timescale: Int32(clamping: audio.sampleRate))
                }
                #expect(audio.partial.reduce(0) { $0 + $1.count } == audio.sampleCount)
            }
        }
        return finished()

        func finished() -> Read {
            result.cut = output.samplesCutBeforeZero
            result.damage = reader.damage
            return result
        }
    }

    fileprivate static func bytes(_ sound: AudioBuffer) -> [UInt8] {
        (0..<(sound.isPlanar ? sound.channelLayout.channels : 1)).flatMap { plane in
            sound.withBytes(plane: plane) { span in span.withUnsafeBytes { Array($0) } }
        }
    }

    static let exact = [
        "flac-s16-stereo.flac", "flac-s24-stereo.flac", "flac.mkv", "mp3-lame.mp3", "mp3-no-tag.mp3",
        "mp3-vbr-stereo.mp3", "mp2.mp2", "vorbis.ogg", "opus.opus", "opus.webm", "alac.m4a", "gap.mkv",
    ]

    @Test(arguments: exact, [2, 3, 8]) func isWhatOneGoGives(_ fixture: String, threads: Int) throws {
        let path = try Fixtures.path(fixture)
        let serial = try read(path, chunkBytes: nil, threads: 1)
        #expect(try read(path, chunkBytes: 100_000, threads: threads) == serial)
        #expect(!serial.bytes.isEmpty)
    }

    @Test(arguments: exact) func partialResultsStandForTheSamples(_ fixture: String) throws {
        let path = try Fixtures.path(fixture)
        let range = MediaTimeRange(
            start: MediaTime(value: 12_347, timescale: 44_100), end: MediaTime(value: 91_357, timescale: 44_100))
        for range in [nil, range] {
            let serial = try read(path, chunkBytes: nil, threads: 1, range: range)
            let reduced = try read(
                path, chunkBytes: 60_000, threads: 2, reduces: true, range: range)
            #expect(reduced == serial)
        }
    }

    /// What a consumer asks for again is what was reduced.
    ///
    /// Linear PCM, in `gap.mkv`, is not decoded in chunks.
    @Test(arguments: exact.filter { $0 != "gap.mkv" }) func reducedAudioCanBeDecodedAgain(_ fixture: String) throws {
        let asset = Asset(path: FilePath(try Fixtures.path(fixture)))
        let output = TrackOutput(track: try Media.track(asset, .audio), reducedBy: { Keeper() })
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = 2
        reader.decodesAudioInChunks = true
        reader.chunkBytes = 60_000
        try reader.add(output)
        try reader.startReading()
        var count = 0
        while let audio = try output.nextAudio(reducedTo: [Frame].self) {
            guard case .reduced(let audio) = audio else { continue }
            let again = try audio.decodedAgain()
            #expect(again.map(\.sampleCount) == audio.partial.map(\.count))
            #expect(again.map(Self.bytes) == audio.partial.map(\.bytes))
            count += again.count
        }
        #expect(count > 0)
    }

    /// Who reads the video too gets the same samples, although nothing is read ahead then.
    @Test(arguments: ["av.mp4", "h264-aac.mkv", "mpegts-10s.ts", "late-audio.mp4"]) func doesNotDependOnTheOtherOutputs(
        _ fixture: String
    ) throws {
        let path = try Fixtures.path(fixture)
        let alone = try read(path, chunkBytes: 50_000, threads: 2)
        #expect(try read(path, chunkBytes: 50_000, threads: 2, withVideo: true) == alone)
        #expect(try read(path, chunkBytes: nil, threads: 1).times == alone.times)
    }

    /// Decoders that add noise of their own give other values, but the same ones however many threads there are.
    @Test(arguments: ["aac.m4a", "aac.adts", "aac.mkv", "aac-5.1.m4a", "ac3-5.1.ac3", "eac3.mp4"])
    func doesNotDependOnTheThreads(_ fixture: String) throws {
        let path = try Fixtures.path(fixture)
        let serial = try read(path, chunkBytes: nil, threads: 1)
        let one = try read(path, chunkBytes: 100_000, threads: 1)
        #expect(one.times == serial.times && one.bytes.count == serial.bytes.count && one.cut == serial.cut)
        for threads in [2, 3, 8] { #expect(try read(path, chunkBytes: 100_000, threads: threads) == one) }
    }

    /// Damage in the middle, at a seam or not, is counted once and in order.
    @Test(arguments: [
        "flac-s16-stereo.flac", "mp3-vbr-stereo.mp3", "vorbis.ogg", "opus.opus", "alac.m4a", "aac.adts",
    ])
    func damageIsWhatOneGoGives(_ fixture: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("damaged")
        var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: Fixtures.path(fixture))))
        var state: UInt32 = 7
        for _ in 0..<40 {
            state = state &* 1_664_525 &+ 1_013_904_223
            let place = bytes.count / 2 + Int(state >> 8) % (bytes.count / 4)
            bytes[place] ^= UInt8(truncatingIfNeeded: state >> 3) | 1
        }
        // The index of an MP4 stands at its end.
        let lost = fixture.hasSuffix("m4a") ? 0 : bytes.count / 50
        try Data(bytes.dropLast(lost)).write(to: URL(fileURLWithPath: path))
        let serial = try read(path, chunkBytes: nil, threads: 1)
        for size in [40_000, 100_000] {
            let parts = try read(path, chunkBytes: size, threads: 3)
            #expect(parts.times == serial.times && parts.damage == serial.damage)
            if fixture != "aac.adts" { #expect(parts.bytes == serial.bytes) }
        }
    }

    /// Frames that the decoder patched up count each, reduced or not.
    @Test func patchedUpFramesAreWhatOneGoGives() throws {
        let folder = try TemporaryFolder()
        var bytes = try Fixtures.bytes("ac3-5.1.ac3")
        for place in stride(from: bytes.count / 4, to: bytes.count * 3 / 4, by: 1500) {
            bytes.replaceSubrange(place..<place + 100, with: repeatElement(0xA5, count: 100))
        }
        let path = try folder.write("patched.ac3", bytes)
        let serial = try read(path, chunkBytes: nil, threads: 1).damage
        #expect(serial.packetCount > 5)
        for threads in [1, 2, 8] {
            #expect(try read(path, chunkBytes: 100_000, threads: threads).damage == serial)
            #expect(
                try read(path, chunkBytes: 100_000, threads: threads, reduces: true).damage == serial)
        }
    }

    /// Two files one behind the other: the second has a header of its own.
    @Test(arguments: [("vorbis.ogg", "vorbis.ogg"), ("opus.opus", "opus.opus"), ("mp3-lame.mp3", "mp2.mp2")])
    func chainsAreWhatOneGoGives(_ pair: (String, String)) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("chain")
        let parts = try [pair.0, pair.1].map { try Data(contentsOf: URL(fileURLWithPath: Fixtures.path($0))) }
        try (parts[0] + parts[1]).write(to: URL(fileURLWithPath: path))
        let serial = try read(path, chunkBytes: nil, threads: 1)
        #expect(try read(path, chunkBytes: 60_000, threads: 2) == serial)
    }

    /// Threads that have read ahead to the place where a file breaks off tell nobody who did not ask for that part.
    @Test(arguments: [1, 2, 8]) func theBreakIsToldOnlyToWhoComesThere(threads: Int) throws {
        let folder = try TemporaryFolder()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: Fixtures.path("flac.mkv")))
        let path = try folder.write("cut.mkv", Array(bytes.prefix(bytes.count / 2)))
        let range = MediaTimeRange(start: .zero, end: MediaTime(value: 9, timescale: 10))
        #expect(try read(path, chunkBytes: 200_000, threads: threads).damage.isTruncated)
        #expect(try !read(path, chunkBytes: 200_000, threads: threads, range: range).damage.isTruncated)
        #expect(try !read(path, chunkBytes: nil, threads: 1, range: range).damage.isTruncated)
    }

    @Test func aChunkThatIsCancelledEnds() throws {
        let asset = Asset(path: FilePath(try Fixtures.path("flac-s16-stereo.flac")))
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: AudioSettings())
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = 2
        reader.decodesAudioInChunks = true
        reader.chunkBytes = 50_000
        try reader.add(output)
        try reader.startReading()
        _ = try output.nextSampleBuffer()
        reader.cancelReading()
        #expect(errorCode { try output.nextSampleBuffer() } == .cancelled)
        #expect(reader.status == .cancelled)
    }
}
