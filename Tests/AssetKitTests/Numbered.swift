import AssetKit
import Foundation
import SystemPackage
import TestSupport

/// Video whose pictures carry a number, and which is shown when: ffmpeg's pictures as the edit list shows them.
struct Numbered {
    let asset: Asset
    let track: AssetTrack
    /// Each picture's time and number.
    let frames: [(time: MediaTime, number: Int)]
    let end: MediaTime

    static let size = Dimensions(width: NumberedPictures.width, height: NumberedPictures.height)

    /// Makes a file of numbered pictures.
    ///
    /// - Parameters:
    ///   - source: Its own number, which is 256ths of the pictures' ones.
    ///   - input: What a copy of the file is made with: edits.
    ///   - isTurned: Whether its display matrix turns the pictures.
    init(
        _ name: String, in folder: TemporaryFolder, source: Int, rate: String, count: Int, input: [String] = [],
        isTurned: Bool = false
    ) throws {
        let plain = folder.path("plain-" + name)
        try NumberedPictures.make(
            plain, source: source, rate: rate, count: count, options: ["-video_track_timescale", "90000"])
        let path = folder.path(name)
        _ = try FFmpeg.run(input + ["-i", plain, "-c", "copy", "-movie_timescale", "90000", path])
        if isTurned { try DisplayMatrix.turn(path, height: Int32(NumberedPictures.height)) }
        asset = Asset(path: FilePath(path))
        track = try Media.track(asset, .video)
        let times = try FFmpeg.probe([
            "-ignore_editlist", "1", "-select_streams", "v:0", "-show_entries", "frame=pts", "-of", "csv=p=0", path,
        ]).compactMap { Int64($0.prefix { $0 != "," }) }
        let rows = try NumberedPictures.rows(path, ignoresEdits: true)
        guard times.count == rows.count else { throw TestSupportError("ffmpeg and ffprobe disagree") }
        let media = zip(times, rows).map { (time: $0, number: Self.number(of: $1)) }
        frames = Self.shown(media, by: EditList.entries(of: try folder.bytes(name)))
        end = track.timeRange.end
    }

    /// The pictures of the media as an edit list with one part shows them: the one on screen where it begins, from there on.
    private static func shown(
        _ media: [(time: Int64, number: Int)], by entries: [EditList.Entry]
    ) -> [(time: MediaTime, number: Int)] {
        let late = entries.prefix { $0.mediaTime < 0 }.reduce(0) { $0 + Int64($1.duration) }
        let first = entries.first { $0.mediaTime >= 0 }.map { Int64($0.mediaTime) } ?? 0
        let end = entries.reduce(0) { $0 + Int64($1.duration) }
        let start = media.lastIndex { $0.time <= first } ?? 0
        return media[start...].map { (max(late, late + $0.time - first), $0.number) }
            .filter { entries.isEmpty || $0.0 < end }
            .map { (MediaTime(value: $0.0, timescale: 90000), $0.1) }
    }

    /// The number of the picture that is on screen at a time.
    func number(at time: MediaTime) -> Int? {
        time < end ? frames.last { $0.time <= time }?.number : nil
    }

    /// The number that a row of pixels shows.
    static func number(of row: [UInt8]) -> Int { NumberedPictures.number(of: row) }

    static func number(of picture: PixelBuffer) -> Int { number(of: picture.packedPlane(0)) }
}

/// Uncompressed sound in a file of its own.
struct WrittenSound {
    let asset: Asset
    let track: AssetTrack
    let path: String

    /// A WAV file of 16-bit samples.
    init(_ name: String, in folder: TemporaryFolder, samples: [Int16], rate: Int, channels: Int = 1) throws {
        let bytes = samples.flatMap { Self.little(Int(UInt16(bitPattern: $0)), 2) }
        try self.init(name, in: folder, format: 1, bits: 16, bytes, rate: rate, channels: channels)
    }

    /// A WAV file of 32-bit floating-point samples.
    init(_ name: String, in folder: TemporaryFolder, floats: [Float], rate: Int) throws {
        let bytes = floats.flatMap { Self.little(Int($0.bitPattern), 4) }
        try self.init(name, in: folder, format: 3, bits: 32, bytes, rate: rate, channels: 1)
    }

    private static func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(number >> ($0 * 8) & 255) }
    }

    private init(
        _ name: String, in folder: TemporaryFolder, format: Int, bits: Int, _ bytes: [UInt8], rate: Int, channels: Int
    ) throws {
        func little(_ number: Int, _ count: Int) -> [UInt8] { Self.little(number, count) }
        let frame = channels * bits / 8
        let header =
            Array("RIFF".utf8) + little(36 + bytes.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
            + little(format, 2) + little(channels, 2) + little(rate, 4) + little(rate * frame, 4) + little(frame, 2)
            + little(bits, 2) + Array("data".utf8) + little(bytes.count, 4)
        path = try folder.write(name, header + bytes)
        asset = Asset(path: FilePath(path))
        track = try Media.track(asset, .audio)
    }
}
