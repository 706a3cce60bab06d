import Foundation
import MediaBase
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import AssetKit

/// The digest of files that is computed from what readers read anyway, against sha256sum, with the bytes that were read.
@Suite struct RecordingTests {
    /// A film of 20 MB with three tracks, written in several ways.
    private static let films = Result {
        let folder = try TemporaryFolder()
        let inputs = [
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=6", "-f", "lavfi", "-i", "sine=d=6:r=48000", "-f", "lavfi",
            "-i", "sine=f=880:d=6:r=48000", "-map", "0", "-map", "1", "-map", "2", "-c:v", "rawvideo", "-pix_fmt",
            "uyvy422",
            "-c:a", "pcm_s16le",
        ]
        _ = try FFmpeg.run(inputs + [folder.path("last.mov")])
        _ = try FFmpeg.run(inputs + ["-movflags", "+faststart", folder.path("first.mov")])
        _ = try FFmpeg.run(inputs + [folder.path("film.mkv")])
        _ = try FFmpeg.run(inputs + ["-f", "nut", folder.path("film.nut")])
        let sound = ["-f", "lavfi", "-i", "anoisesrc=d=60:r=48000:c=pink"]
        _ = try FFmpeg.run(sound + ["-ac", "2", "-c:a", "pcm_s32le", folder.path("noise.wav")])
        return folder
    }

    private static func digest(_ path: String) throws -> String {
        String(try Program.run("sha256sum", [path]).output.prefix { $0 != " " })
    }

    /// Decodes all video and audio of an asset.
    private static func readAll(_ asset: Asset) throws {
        let reader = try AssetReader(asset: asset)
        var outputs: [TrackOutput] = []
        for track in try asset.loadNow(.tracks) {
            let output =
                track.mediaType == .audio
                ? TrackOutput(track: track, audioSettings: AudioSettings())
                : TrackOutput(track: track, videoSettings: VideoSettings())
            try reader.add(output)
            outputs.append(output)
        }
        try reader.startReading()
        var ends = outputs.map { _ in MediaTime.zero }
        while let next = ends.indices.filter({ ends[$0].isNumeric }).min(by: { ends[$0] < ends[$1] }) {
            ends[next] = try outputs[next].nextSampleBuffer()?.presentationTime ?? .positiveInfinity
        }
    }

    private static var options: Asset.Options {
        var options = Asset.Options()
        options.recording = .digest
        return options
    }

    @Test(arguments: ["last.mov", "first.mov", "film.mkv", "film.nut", "noise.wav"])
    func filesAreReadOnce(name: String) throws {
        let path = try Self.films.get().path(name)
        let size = try Self.films.get().bytes(name).count
        let asset = Asset(path: path, options: Self.options)
        #expect(asset.bytesRead == 0)
        try Self.readAll(asset)
        let before = try #require(asset.bytesRead)
        #expect(before >= size * 95 / 100, "\(name): \(before) of \(size)")
        #expect(try asset.sourceDigest() == Self.digest(path))
        let after = try #require(asset.bytesRead)
        #expect(after <= size * 105 / 100, "\(name): \(before) and \(after) of \(size)")
        #expect(try asset.sourceDigest() == Self.digest(path))
    }

    /// Readers that jump about take the rest no more than once.
    @Test(arguments: ["last.mov", "film.mkv"]) func whatIsReadHereAndThereIsReadAgain(name: String) throws {
        let path = try Self.films.get().path(name)
        let size = try Self.films.get().bytes(name).count
        let asset = Asset(path: path, options: Self.options)
        let video = try #require(try asset.loadNow(.tracks).first)
        for second in [5, 0, 3, 1] as [Int64] {
            let start = MediaTime(value: second, timescale: 1)
            let range = MediaTimeRange(start: start, duration: MediaTime(value: 1, timescale: 5))
            let output = try asset.samplesNow(of: video, as: .stored, in: range)
            while try output.nextSampleBuffer() != nil {}
        }
        #expect(try asset.sourceDigest() == Self.digest(path))
        #expect(try #require(asset.bytesRead) <= size * 205 / 100)
    }

    /// A source that counts what is asked of it; later parts may come before earlier ones.
    private final class Counted: ByteSource {
        let bytes: [UInt8]
        private let count = Atomic(0)
        init(_ bytes: [UInt8]) { self.bytes = bytes }
        var size: UInt64? { UInt64(bytes.count) }
        var bytesRead: Int { count.load(ordering: .relaxed) }
        func read(at offset: UInt64, count wanted: Int) throws(MediaError) -> [UInt8] {
            if offset / 4096 % 3 == 0 { usleep(3000) }
            let found = Array(bytes.dropFirst(Int(offset)).prefix(wanted))
            count.add(found.count, ordering: .relaxed)
            return found
        }
    }

    @Test(arguments: ["last.mov", "first.mov", "film.mkv", "film.nut"]) func sourcesAreReadOnce(name: String) throws {
        let source = Counted(try Self.films.get().bytes(name))
        let asset = Asset(source: source, options: Self.options)
        try Self.readAll(asset)
        #expect(try asset.sourceDigest() == Self.digest(Self.films.get().path(name)))
        let size = source.bytes.count
        #expect(source.bytesRead <= size * 105 / 100, "\(name): \(source.bytesRead) of \(size)")
        #expect(asset.bytesRead == source.bytesRead)
    }

    /// All bytes of a pipe pass into the temporary file, which is not counted.
    @Test(arguments: [true, false]) func pipesHaveADigestIfTheyAreKept(isKept: Bool) throws {
        let path = try Fixtures.path("h264-aac.mkv")
        let bytes = try Fixtures.bytes("h264-aac.mkv")
        let (reading, writing) = try FileDescriptor.pipe()
        let writer = Thread {
            _ = try? writing.writeAll(bytes)
            try? writing.close()
        }
        writer.start()
        defer { try? reading.close() }
        var options = Self.options
        options.spoolsPipe = isKept
        let asset = Asset(descriptor: reading, options: options)
        try Self.readAll(asset)
        #expect(asset.bytesRead == bytes.count)
        if isKept {
            #expect(try asset.sourceDigest() == Self.digest(path))
        } else {
            #expect(errorCode { try asset.sourceDigest() } == .unsupported)
        }
    }

    @Test func nothingIsRecordedUnlessAskedFor() throws {
        let path = try Fixtures.path("av.mp4")
        #expect(try Asset(path: path).bytesRead == nil && Asset(path: path).sourceDigest() == nil)
        var options = Asset.Options()
        options.recording = .bytes
        let asset = Asset(path: path, options: options)
        _ = try asset.loadNow(.tracks)
        #expect(try asset.bytesRead ?? 0 > 0 && asset.sourceDigest() == nil)
    }
}
