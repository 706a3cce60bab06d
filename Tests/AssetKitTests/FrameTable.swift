import AssetKit
import Foundation
import TestSupport

/// A video track of a fixture with what `golden/frames` says of it.
struct FrameTable: Sendable, CustomStringConvertible {
    /// One picture.
    struct Frame: Sendable, Equatable {
        var time: MediaTime
        var isKey: Bool
        var md5: String
    }

    let fixture: String
    let track: Int
    var frames: [Frame] = []
    /// Whether the standard fixes every decoded bit.
    var isExact = false
    /// The SHA-256 of the fixture that the table was made from.
    var digest = ""

    var description: String { "\(fixture) v:\(track)" }

    static let all: [FrameTable] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: Repository.path("golden/frames"))) ?? []
        return names.sorted().compactMap { name in
            let parts = name.split(separator: ".")
            guard parts.count == 4, let track = Int(parts[2].dropFirst()) else { return nil }
            return try? FrameTable("\(parts[0]).\(parts[1])", track: track)
        }
    }()

    init(_ fixture: String, track: Int = 0) throws {
        let table = try GoldenTable.frames(fixture, track: track)
        self.fixture = fixture
        self.track = track
        isExact = table.notes["exact"] == "yes"
        digest = table.notes["sha256"] ?? ""
        frames = try table.rows.map {
            Frame(
                time: MediaTime(try $0.rational("time")), isKey: try $0.number("keyframe") == 1, md5: try $0.text("md5")
            )
        }
    }

    /// When a picture leaves the screen; `nil` for the last one.
    func end(of index: Int) -> MediaTime? { frames.indices.contains(index + 1) ? frames[index + 1].time : nil }

    /// The middle of each picture's interval; for the last, a little after its time.
    var middles: [MediaTime] {
        frames.indices.map { index in
            let end = end(of: index) ?? frames[index].time + MediaTime(value: 1, timescale: 1000)
            return (frames[index].time + end).multiplied(by: 1, dividedBy: 2)
        }
    }

    /// The picture on screen at a time between the first and the last.
    func index(at time: MediaTime) -> Int? { frames.lastIndex { $0.time <= time } }

    /// The MD5 sums that are expected: recorded, or ffmpeg's here where decoders may differ between processors.
    func sums() throws -> [String] {
        if isExact, try Fixtures.isAsRecorded(fixture, digest) { return frames.map(\.md5) }
        let text = try FFmpeg.run(
            [
                "-copyts", "-noautorotate", "-i", Fixtures.path(fixture), "-map", "0:v:\(track)", "-fps_mode",
                "passthrough", "-enc_time_base", "1/90000", "-f", "framemd5", "-",
            ])
        return String(decoding: text, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) } }
    }
}

/// The MD5 of each picture's planes, packed and one after the other, by the program `md5sum`.
func md5(_ pictures: [PixelBuffer]) throws -> [String] {
    guard !pictures.isEmpty else { return [] }
    let folder = try TemporaryFolder()
    for (index, picture) in pictures.enumerated() {
        try folder.write("\(100_000 + index)", (0..<picture.planeCount).flatMap { picture.packedPlane($0) })
    }
    return try Program.run("md5sum", ["-b"] + folder.names(), folder: folder.path).output
        .split(separator: "\n").map { String($0.prefix { $0 != " " }) }
}
