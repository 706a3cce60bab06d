import Foundation
import TestSupport
import Testing

/// Which pictures a copy shows, and when, held against what ffmpeg decodes of the source.
@Suite struct ExportCopyPicturesTests {
    private struct Time: Decodable { var seconds: Double? }
    private struct Delivered: Decodable { var start: Time; var storedFrom: Time? }
    private struct Track: Decodable { var delivered: Delivered; var frameCount: Int? }
    private struct Report: Decodable {
        var video: Track?
        var audio: [Track]
        var warnings: [String]
    }
    /// One picture as ffmpeg decodes it: when, in ticks of its stream, and the sum of its pixels.
    private struct Picture: Equatable { var time: Double; var sum: Substring }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func export(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, ["export", "--force", "--quiet", "--copy"] + arguments, folder: folder.path)
    }

    private func report(_ arguments: [String]) throws -> Report {
        let result = try export(["--json"] + arguments)
        #expect(result.status == 0, "\(result.error)")
        return try JSONDecoder().decode(Report.self, from: Data(result.bytes))
    }

    private func make(_ name: String, _ arguments: [String]) throws -> String {
        let path = folder.path(name)
        _ = try FFmpeg.run(arguments + ["-y", path])
        return path
    }

    private func pictures(_ path: String) throws -> [Picture] {
        let table = try FFmpeg.run([
            "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-enc_time_base", "1/90000", "-f", "framehash",
            "-hash",
            "md5", "-",
        ])
        var tick = 0.0
        return String(decoding: table, as: UTF8.self).split(separator: "\n").compactMap { line in
            if line.hasPrefix("#tb 0: ") {
                let parts = line.dropFirst(7).split(separator: "/").compactMap { Double($0) }
                tick = parts[0] / parts[1]
            }
            guard !line.hasPrefix("#") else { return nil }
            let fields = line.split(separator: ",").map { $0.drop { $0 == " " } }
            return Picture(time: (Double(fields[2]) ?? -1) * tick, sum: fields[5])
        }
    }

    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func write(_ bytes: [UInt8], _ name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: folder.path(name)))
        return folder.path(name)
    }

    private func place(of name: String, in bytes: [UInt8]) throws -> Int {
        let name = Array(name.utf8)
        return try #require(bytes.indices.dropLast(4).first { Array(bytes[$0..<$0 + 4]) == name })
    }

    // MARK: Edit lists

    /// Replaces the only entry of the only edit list; the index lies at the file's end.
    private func editing(_ path: String, _ parts: [(duration: UInt32, mediaTime: UInt32)]) throws -> String {
        var bytes = try bytes(path)
        let elst = try place(of: "elst", in: bytes)
        func big(_ value: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
        }
        let entries: [UInt8] = parts.flatMap { part -> [UInt8] in
            big(part.duration) + big(part.mediaTime) + [0, 1, 0, 0]
        }
        bytes.replaceSubrange(elst + 8..<elst + 24, with: big(UInt32(parts.count)) + entries)
        for box in ["elst", "edts", "trak", "moov"] {
            let at = try place(of: box, in: bytes)
            let size = bytes[at - 4..<at].reduce(0) { $0 << 8 | UInt32($1) } + UInt32(entries.count - 12)
            bytes.replaceSubrange(at - 4..<at, with: big(size))
        }
        return try write(bytes, "edited.mov")
    }

    /// Fifty pictures at 25 a second with groups of 24; 512 ticks each, the first at tick 1024 of the media.
    private func source() throws -> String {
        try make(
            "whole.mov",
            [
                "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-c:v", "libx264", "-g", "24", "-bf", "2",
                "-threads", "1", "-movie_timescale", "12800",
            ])
    }

    /// Parts that begin anywhere in a group: after 11 pictures; after 10 and 20; after 24 and 30.
    @Test(arguments: [[11, 39], [10, 10, 30], [24, 6, 20]]) func partsThatContinueEachOtherAreOne(lengths: [Int]) throws
    {
        let whole = try source()
        var first = 0
        let parts = lengths.map { length in
            defer { first += length }
            return (UInt32(length * 512), UInt32(1024 + first * 512))
        }
        let edited = try editing(whole, parts)
        let wanted = try pictures(whole)
        #expect(wanted.count == 50)
        #expect(try report([edited, "-o", "o.mov"]).video?.frameCount == 50)
        #expect(try pictures(folder.path("o.mov")) == wanted)
        #expect(try report([edited, "-o", "o.mkv"]).video?.frameCount == 50)
        #expect(try pictures(folder.path("o.mkv")).map(\.sum) == wanted.map(\.sum))
        // From the 20th picture to the 35th.
        #expect(try report([edited, "-o", "p.mov", "--start", "0.8", "--end", "1.44"]).video?.frameCount == 16)
        #expect(try pictures(folder.path("p.mov")).map(\.sum) == wanted[20..<36].map(\.sum))
    }

    /// What an edit list does not show comes into no container that has none.
    @Test func whatIsNotShownAtTheEndIsNotShownElsewhere() throws {
        let whole = try source()
        let edited = try editing(whole, [(30 * 512, 1024)])
        let wanted = try pictures(whole)[..<30].map(\.sum)
        #expect(try report([edited, "-o", "o.mov"]).video?.frameCount == 30)
        #expect(try pictures(folder.path("o.mov")).map(\.sum) == wanted)
        #expect(try report([edited, "-o", "o.mkv"]).video?.frameCount == 30)
        #expect(try pictures(folder.path("o.mkv")).map(\.sum) == wanted)
    }

    /// An empty edit between parts shows nothing, where a copy would go on showing the picture before it.
    @Test func aHoleBetweenPartsIsRefused() throws {
        let edited = try editing(try source(), [(10 * 512, 1024), (5 * 512, .max), (40 * 512, 1024 + 10 * 512)])
        let result = try export([edited, "-o", "o.mov"])
        #expect(result.status == 2 && result.error.contains("put together of 2 parts"), "\(result.error)")
    }

    // MARK: The picture on screen at the start

    /// Takes out of a Matroska file how long its pictures last (DefaultDuration), and leaves a void in its place.
    private func withoutDurations(_ path: String, _ name: String) throws -> String {
        var bytes = try bytes(path)
        let element: [UInt8] = [0x23, 0xE3, 0x83, 0x84]
        let at = try #require(bytes.indices.dropLast(8).first { Array(bytes[$0..<$0 + 4]) == element })
        bytes.replaceSubrange(at..<at + 8, with: [0xEC, 0x86, 0, 0, 0, 0, 0, 0])
        return try write(bytes, name)
    }

    /// Two pictures every half second, at 0, 0.1, 0.5, 0.6 …, so that no duration can be guessed.
    private func uneven(_ name: String, _ codec: [String]) throws -> String {
        let pictures = "testsrc2=s=64x48:r=10:d=6,select='lt(mod(n\\,5)\\,2)'"
        return try make(name, ["-f", "lavfi", "-i", pictures, "-fps_mode", "vfr", "-threads", "1"] + codec)
    }

    @Test(arguments: ["vp9", "h264", "h264 without B"]) func thePictureOnScreenAtTheStartIsThere(codec: String) throws {
        let isVP9 = codec == "vp9"
        let options =
            isVP9 ? ["-c:v", "libvpx-vp9", "-b:v", "200k"] : ["-c:v", "libx264", "-bf", codec == "h264" ? "2" : "0"]
        let whole = try uneven(isVP9 ? "n.webm" : "n.mkv", options + ["-g", "50"])
        let source = try withoutDurations(whole, "w.mkv")
        let all = try pictures(whole)
        #expect(all.count == 24)
        // The tenth, of 2.1 s, lasts to 2.5 s, and a sync sample is far away.
        let copy = try report([source, "-o", "o.mp4", "--start", "2.3"])
        #expect(copy.video?.frameCount == 15 && copy.video?.delivered.start.seconds == 2.3)
        let shown = try pictures(folder.path("o.mp4"))
        #expect(shown.map(\.sum) == all[9...].map(\.sum))
        #expect(shown.first?.time == 0 && abs((shown.dropFirst().first?.time ?? 0) - 0.2) < 0.002)
    }

    /// The same of MP4, whose durations are those from one decoding to the next.
    @Test func thePictureOnScreenInMP4IsThere() throws {
        let source = try uneven("n.mp4", ["-c:v", "libx264", "-bf", "2", "-g", "50"])
        let all = try pictures(source)
        for start in ["2.3", "0.3", "1.05", "3.4"] {
            let begins = try #require(Double(start))
            let wanted = all.lastIndex { $0.time <= begins } ?? 0
            #expect(try report([source, "-o", "o.mov", "--start", start]).video?.frameCount == all.count - wanted)
            let shown = try pictures(folder.path("o.mov"))
            #expect(shown.map(\.sum) == all[wanted...].map(\.sum), "\(start)")
            #expect(shown.first?.time == 0)
        }
    }

    /// Where the picture on screen needs no other, files without edit lists begin with it too.
    @Test(arguments: ["o.mkv", "o.webm"]) func aSyncSampleOnScreenBeginsTheFile(output: String) throws {
        let whole = try make(
            "n.webm",
            ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=3", "-c:v", "libvpx", "-g", "12", "-b:v", "200k"])
        let source = try withoutDurations(whole, "w.webm")
        let all = try pictures(whole)
        // Sync samples are at 0, 1.2 and 2.4 s.
        let copy = try report([source, "-o", output, "--start", "1.25"])
        #expect(copy.video?.frameCount == 18 && copy.warnings.isEmpty, "\(copy.warnings)")
        let shown = try pictures(folder.path(output))
        #expect(shown.map(\.sum) == all[12...].map(\.sum))
        #expect(shown.first?.time == 0 && abs((shown.dropFirst().first?.time ?? 0) - 0.05) < 0.002)
        // Where it needs others, what is there is told.
        let late = try report([source, "-o", output, "--start", "1.35"])
        #expect(late.warnings.contains { $0.contains("later than asked for") }, "\(late.warnings)")
    }

    // MARK: What a frame is

    /// A transport stream comes apart into fields, of which a frame's second one cannot be shown by itself.
    @Test func twoFieldsAreOneFrame() throws {
        let stream = try write(FieldPictures.stream(frames: 12), "n.h264")
        // What a raw stream's rate counts, frames or fields, depends on ffmpeg's version. A field lasts 1/50 s.
        let source = try #require(
            try ["25", "50"].map { try make("n\($0).ts", ["-framerate", $0, "-i", stream, "-c", "copy"]) }.first {
                try FFmpeg.probe(["-show_entries", "packet=duration", "-of", "csv=p=0", $0]).first?.hasPrefix("1800")
                    == true
            })
        let all = try pictures(source)
        #expect(all.count == 12)
        #expect(try report([source, "-o", "o.mov"]).video?.frameCount == 12)
        #expect(try pictures(folder.path("o.mov")).map(\.sum) == all.map(\.sum))
        // In the midst of a frame, and where its second field begins.
        for start in ["0.1", "0.11"] {
            let part = try report([source, "-o", "p.mov", "--start", start])
            #expect(part.video?.frameCount == 10)
            #expect(try pictures(folder.path("p.mov")).map(\.sum) == all[2...].map(\.sum))
        }
        let samples = try FFmpeg.probe([
            "-select_streams", "v", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0",
            folder.path("o.mov"),
        ])
        #expect(samples == ["12"])
    }

    /// What ffmpeg makes of such a stream has a sample for each field, with lengths in place of start codes.
    @Test(arguments: ["n.mp4", "n.mov"]) func twoFieldsWithLengthsAreOneFrame(input: String) throws {
        let stream = try write(FieldPictures.stream(frames: 12), "n.h264")
        // What a raw stream's rate counts, frames or fields, depends on ffmpeg's version.
        let fields = "setts=ts=N/50/TB:duration=1/50/TB"
        let source = try make("n.ts", ["-i", stream, "-c", "copy", "-bsf:v", fields])
        let stored = try make(input, ["-i", source, "-c", "copy"])
        let packets = [
            "-select_streams", "v", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0",
        ]
        #expect(try FFmpeg.probe(packets + [stored]) == ["24"])
        let all = try pictures(stored)
        #expect(all.count == 12)
        for output in ["o.mov", "o.mkv"] {
            #expect(try report([stored, "-o", output]).video?.frameCount == 12)
            #expect(try pictures(folder.path(output)).map(\.sum) == all.map(\.sum))
            #expect(try FFmpeg.probe(packets + [folder.path(output)]) == ["12"])
        }
        let probed = try Program.run(Program.mediatool, ["probe", "--scan", "--json", stored]).output
        #expect(probed.contains("\"frameCount\": 12") && probed.contains("\"packetCount\": 24"), "\(probed)")
    }

    /// Of two fragments that overlap libavformat shows the first; what the second has at the same times is not shown, and
    /// its later pictures need it.
    @Test(arguments: ["o.mp4", "o.mkv"]) func fragmentsThatOverlapAreNotCopied(output: String) throws {
        let source = try make(
            "n.mp4",
            [
                "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=4", "-c:v", "libx264", "-g", "50", "-bf", "0",
                "-movflags",
                "+frag_keyframe+empty_moov+default_base_moof",
            ])
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
        let name = Array("tfdt".utf8)
        let place = try #require(bytes.indices.dropLast(4).last { Array(bytes[$0..<$0 + 4]) == name })
        // Version 1 has 64 bits behind version and flags (ISO/IEC 14496-12, 8.8.12): half a second earlier.
        let time = bytes[place + 8..<place + 16].reduce(0) { $0 << 8 | UInt64($1) }
        #expect(time == 2 * 12800)
        let earlier = time - 6400
        for byte in 0..<8 { bytes[place + 8 + byte] = UInt8(truncatingIfNeeded: earlier >> (56 - 8 * UInt64(byte))) }
        let overlapping = try write(bytes, "overlap.mp4")
        #expect(try pictures(overlapping).count < 100)
        let result = try Program.run(
            Program.mediatool, ["export", "--quiet", "--copy", overlapping, "-o", output], folder: folder.path)
        #expect(result.status == 2 && result.error.contains("does not show the picture of 1.5 s"), "\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: folder.path(output)))
    }

    /// Encoders of VP8 make pictures that others refer to and that are never shown, in packets of their own.
    @Test func hiddenPicturesAreNotCounted() throws {
        let passes = [
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=3", "-c:v", "libvpx", "-g", "100", "-b:v", "200k",
            "-auto-alt-ref", "1", "-lag-in-frames", "25", "-passlogfile", folder.path("log"), "-pass",
        ]
        _ = try FFmpeg.run(passes + ["1", "-f", "null", "-"])
        let source = try make("n.webm", passes + ["2"])
        let packets = try FFmpeg.probe(["-show_entries", "packet=pts", "-of", "csv=p=0", source]).count
        #expect(packets > 75)
        #expect(try report([source, "-o", "o.mkv"]).video?.frameCount == 75)
        let probed = try Program.run(Program.mediatool, ["probe", "--scan", "--json", source]).output
        #expect(probed.contains("\"frameCount\": 75") && probed.contains("\"packetCount\": \(packets)"), "\(probed)")
    }

    /// Sound is stored from a packet before its start, whatever pictures need.
    @Test func eachTrackTellsFromWhereItIsStored() throws {
        let source = try make(
            "n.mov",
            [
                "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=3", "-f", "lavfi", "-i", "sine=r=48000:d=3", "-c:v",
                "libx264", "-g", "50", "-c:a", "pcm_s16le",
            ])
        let report = try report([source, "-o", "o.mov", "--start", "1"])
        #expect(report.video?.delivered.storedFrom?.seconds == 0)
        let stored = report.audio.first?.delivered.storedFrom?.seconds ?? 1
        let track = try FFmpeg.probe([
            "-select_streams", "a", "-show_entries", "stream=duration_ts", "-of", "csv=p=0", folder.path("o.mov"),
        ])
        #expect(stored > 0.9 && stored <= 1, "\(stored) \(track)")
    }
}
