import AssetKit
import Foundation
import MediaBase
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Compares assets that are read by code of the user's own with those read from the file itself.
@Suite struct ByteSourceTests {
    /// A source that counts what is read of it, and may fail or end early.
    private final class Counted: ByteSource {
        let bytes: [UInt8]
        let isStream: Bool
        let failure: MediaError?
        let failsFrom: UInt64
        let endsAt: Int
        private let count = Atomic(0)

        init(
            _ bytes: [UInt8], isStream: Bool = false, failure: MediaError? = nil, failsFrom: UInt64 = .max,
            endsAt: Int = .max
        ) {
            (self.bytes, self.isStream, self.failure) = (bytes, isStream, failure)
            (self.failsFrom, self.endsAt) = (failsFrom, endsAt)
        }

        var size: UInt64? { isStream ? nil : UInt64(bytes.count) }
        var bytesRead: Int { count.load(ordering: .relaxed) }

        func read(at offset: UInt64, count wanted: Int) throws(MediaError) -> [UInt8] {
            if let failure, offset + UInt64(wanted) > failsFrom { throw failure }
            guard offset < bytes.count, offset < endsAt else { return [] }
            let found = Array(bytes[Int(offset)...].prefix(min(wanted, endsAt - Int(offset))))
            count.add(found.count, ordering: .relaxed)
            return found
        }
    }

    /// What an asset says of itself, and a checksum of all that its tracks decode to.
    private struct Content: Equatable {
        var duration: MediaTime
        var tracks: [String] = []
        var samples: [String] = []

        init(_ asset: Asset) async throws {
            duration = try await asset.load(.duration)
            let tracks = try await asset.load(.tracks).filter { [.audio, .video].contains($0.mediaType) }
            self.tracks = tracks.map { "\($0.mediaType) \($0.timeRange) \($0.formatDescriptions)" }
            let reader = try AssetReader(asset: asset)
            var outputs: [TrackOutput] = []
            for track in tracks {
                let output =
                    track.mediaType == .audio
                    ? TrackOutput(track: track, audioSettings: AudioSettings())
                    : TrackOutput(track: track, videoSettings: VideoSettings())
                try reader.add(output)
                outputs.append(output)
            }
            try reader.startReading()
            var hashes = outputs.map { _ in UInt64(14_695_981_039_346_656_037) }
            var isOver = outputs.map { _ in false }
            while isOver.contains(false) {
                for (place, output) in outputs.enumerated() where !isOver[place] {
                    guard let buffer = try output.nextSampleBuffer() else {
                        isOver[place] = true
                        continue
                    }
                    var bytes = Array("\(buffer.presentationTime)".utf8)
                    buffer.audioBuffer?.withBytes { span in
                        for place in span.byteOffsets {
                            bytes.append(span.unsafeLoad(fromByteOffset: place, as: UInt8.self))
                        }
                    }
                    if let pixels = buffer.pixelBuffer {
                        for plane in 0..<pixels.planeCount { bytes += pixels.packedPlane(plane) }
                    }
                    for byte in bytes { hashes[place] = (hashes[place] ^ UInt64(byte)) &* 1_099_511_628_211 }
                }
            }
            samples = hashes.map { String($0, radix: 16) }
        }
    }

    @Test(arguments: [
        "av.mp4", "fragmented.mp4", "h264-aac.mkv", "opus.webm", "h264-opengop.ts", "mjpeg.avi", "pcm-s16-5.1.wav",
        "flac-s16-stereo.flac", "mp3-vbr-stereo.mp3", "aac.adts", "mpegps.mpg",
    ])
    func bytesAreReadAsTheFileIs(fixture: String) async throws {
        let expected = try await Content(Asset(path: try Fixtures.path(fixture)))
        let bytes = try Fixtures.bytes(fixture)
        #expect(try await Content(Asset(bytes: bytes)) == expected)
        #expect(try await Content(Asset(source: Counted(bytes))) == expected)
    }

    /// Without a size, the bytes are a stream, as they are through a pipe.
    @Test(arguments: ["h264-aac.mkv", "pcm-s16-5.1.wav", "flac-s16-stereo.flac"])
    func aSourceOfUnknownSizeIsReadInOrder(fixture: String) async throws {
        let expected = try await Content(Asset(path: try Fixtures.path(fixture)))
        let stream = Asset(source: Counted(try Fixtures.bytes(fixture), isStream: true))
        #expect(try await Content(stream).samples == expected.samples)
    }

    @Test func picturesAreThoseOfTheFile() async throws {
        for fixture in ["av.mp4", "h264-aac.mkv"] {
            let time = MediaTime(value: 7, timescale: 10)
            var pictures: [Bitmap] = []
            for asset in [
                Asset(path: try Fixtures.path(fixture)), Asset(bytes: try Fixtures.bytes(fixture)),
            ] {
                let generator = ImageGenerator(asset: asset)
                generator.configuration.requestedTimeToleranceBefore = .zero
                generator.configuration.requestedTimeToleranceAfter = .zero
                pictures.append(try await generator.image(at: time).image)
            }
            #expect(pictures[0] == pictures[1])
        }
    }

    /// The header of a file of many megabytes is read without the media.
    @Test func onlyWhatIsNeededIsRead() async throws {
        // A free box of 40 MiB between the header and the media.
        let length = 40 << 20
        let box = [UInt8](repeating: 0, count: length - 8)
        let head = [UInt8](withUnsafeBytes(of: UInt32(length).bigEndian) { Array($0) }) + Array("free".utf8)
        let source = Counted(try Fixtures.bytes("av.mp4") + head + box)
        _ = try await Asset(source: source).load(.tracks)
        #expect(source.bytesRead < 1 << 20)
    }

    @Test func theErrorOfASourceIsThrown() async throws {
        let bytes = try Fixtures.bytes("h264-aac.mkv")
        let lost = MediaError(.inputOutput, "the database is gone", cause: "socket closed")
        for place in [0, UInt64(bytes.count / 2)] {
            let asset = Asset(source: Counted(bytes, failure: lost, failsFrom: place), name: "row 7")
            let error = await #expect(throws: MediaError.self) { try await Content(asset) }
            #expect(error?.message == "the database is gone" && error?.cause == "socket closed")
            #expect(error?.path == "row 7")
        }
    }

    /// A source that has fewer bytes than it said has changed meanwhile.
    @Test func aSourceThatEndsEarlyHasChanged() async throws {
        let bytes = try Fixtures.bytes("h264-aac.mkv")
        let error = await #expect(throws: MediaError.self) {
            try await Content(Asset(source: Counted(bytes, endsAt: bytes.count / 2)))
        }
        #expect(error?.code == .changed)
    }

    @Test func whatIsEmptyOrNoMediaIsUnknown() async throws {
        for bytes in [[], Array("no media at all".utf8)] {
            let error = await #expect(throws: MediaError.self) { try await Asset(bytes: bytes).load(.tracks) }
            #expect(error?.code == .unknownFormat && error?.path == "memory")
        }
    }
}
