import Foundation
import TestSupport
import Testing

/// Sound of copies lies where the source's does, to the sample, or a warning says by how much it does not.
@Suite struct ExportCopySoundTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func report(_ arguments: [String]) throws -> CopyReport { try CopyReport(of: arguments, in: folder) }

    /// Five seconds of noise at 48 kHz, encoded by ffmpeg.
    private func noise(_ name: String, _ codec: [String]) throws -> String {
        let path = folder.path(name)
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "anoisesrc=r=48000:d=5:seed=3:a=0.4", "-ac", "1"] + codec + [path])
        return path
    }

    /// What ffmpeg decodes, as numbers.
    private func samples(_ path: String) throws -> [Int] {
        let bytes = try FFmpeg.pcm(path)
        return stride(from: 0, to: bytes.count - 1, by: 2).map {
            Int(Int16(truncatingIfNeeded: Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8))
        }
    }

    /// By how many samples a copy is later than the source from a sample on, by the least difference of noise; and how
    /// much of the sound differs there.
    private func lag(of copy: [Int], in source: [Int], from first: Int) throws -> (samples: Int, difference: Double) {
        // Decoders that begin in the midst of a stream have found their way by then.
        let part = 12_000..<13_000
        try #require(copy.count > part.upperBound + 1100 && source.count > first + part.upperBound + 1100)
        let power = part.reduce(0) { $0 + abs(source[first + $1]) }
        let lags = (-1100...1100).map { lag in
            (lag, part.reduce(0) { $0 + abs(copy[$1 + lag] - source[first + $1]) })
        }
        let best = try #require(lags.min { $0.1 < $1.1 })
        return (best.0, Double(best.1) / Double(max(1, power)))
    }

    /// Matroska's clock of milliseconds cannot name the samples, and the pre-skip of a part is not the source's.
    @Test(arguments: ["n.ogg", "n.mkv", "n.mp4"], ["o.mp4", "o.mkv", "o.ogg"])
    func opusIsCopiedToTheSample(input: String, output: String) throws {
        let source = try noise(input, ["-c:a", "libopus"])
        let whole = try samples(source)
        for start in ["0", "1", "1.2345"] {
            let report = try report([source, "-o", output] + (start == "0" ? [] : ["--start", start]))
            let first = Int((Double(start) ?? 0) * 48000)
            let found = try lag(of: samples(folder.path(output)), in: whole, from: first)
            #expect(found.samples == 0 && found.difference < 0.02, "\(start): \(found)")
            #expect(report.warnings.isEmpty, "\(report.warnings)")
            #expect(abs((report.audio.first?.delivered.start.seconds ?? -1) - (Double(start) ?? 0)) < 0.001)
        }
    }

    /// A decoder of Vorbis gives nothing for its first packet, so that players cannot begin inside one.
    @Test(arguments: ["n.ogg", "n.mkv"], ["o.mp4", "o.mkv"])
    func vorbisBeginsWhereItIsSaid(input: String, output: String) throws {
        let source = try noise(input, ["-c:a", "libvorbis"])
        let whole = try samples(source)
        let sourceStart = try firstTime(source)
        for start in ["1", "1.2345"] {
            let report = try report([source, "-o", output, "--start", start])
            let told = try #require(report.audio.first?.delivered.start.seconds)
            let later = told - (Double(start) ?? 0)
            #expect(later > 0 && later < 0.07 && report.warnings.count == 1, "\(report.warnings)")
            #expect(report.warnings.first?.hasPrefix("the sound begins \(later.description.prefix(4))") == true)
            // ffmpeg's samples begin with the first that is heard; the clock of Matroska is one of milliseconds.
            let first = try firstTime(folder.path(output)) + (Double(start) ?? 0)
            let place = Int(((first - sourceStart) * 48000).rounded())
            let found = try lag(of: samples(folder.path(output)), in: whole, from: place)
            let isCoarse = input.hasSuffix("mkv") || output.hasSuffix("mkv")
            #expect(abs(found.samples) <= (isCoarse ? 48 : 0) && found.difference < 0.02, "\(start): \(found)")
            #expect(abs(first - told) <= (isCoarse ? 0.0011 : 0.00001), "\(first) \(told)")
        }
    }

    /// What is said of a copy's range is as long as what ffmpeg decodes of it, and what is decoded lies there in the source.
    ///
    /// Ogg counts from the first sample; the last packet of Apple Lossless in Matroska states its own length only.
    @Test(arguments: [("flac", "n.flac", "o.ogg"), ("libvorbis", "n.ogg", "o.ogg"), ("alac", "n.m4a", "o.mka")])
    func copiesEndWhereItIsSaid(codec: String, input: String, output: String) throws {
        let source = try noise(input, ["-c:a", codec])
        let whole = try samples(source)
        for part in [["--start", "1.1"], ["--start", "1.1", "--end", "3.2337"]] {
            let delivered = try #require(try report([source, "-o", output] + part).audio.first?.delivered)
            let decoded = try samples(folder.path(output))
            let said = delivered.end.seconds - delivered.start.seconds
            #expect(abs(said - Double(decoded.count) / 48000) < 0.001, "\(part): \(said)")
            // Of Vorbis, ffmpeg's samples of the source are early by as much as the first packet does not give.
            guard codec != "libvorbis" else { continue }
            let found = try lag(of: decoded, in: whole, from: Int((delivered.start.seconds * 48000).rounded()))
            #expect(abs(found.samples) <= 48 && found.difference == 0, "\(part): \(found)")
        }
    }

    /// In transport streams, each packet of AAC has a header that MP4 does not have.
    @Test func segmentsOfATransportStream() throws {
        let source = try Fixtures.path("mpegts-10s.ts")
        _ = try report([source, "-o", "stream", "--segments", "1"])
        let made = try FFmpeg.pcm(folder.path("stream/index.m3u8"))
        #expect(try !made.isEmpty && made == FFmpeg.pcm(source))
    }

    /// A frame of MP3 may refer to many before it, most where the rate is low; a copy that hides them sounds right at once.
    @Test(arguments: ["48k", "128k"], ["o.mp4", "o.mov"]) func partsOfMP3SoundRightAtOnce(rate: String, output: String)
        throws
    {
        let source = try noise("n.mp3", ["-c:a", "libmp3lame", "-b:a", rate])
        let whole = try samples(source)
        _ = try report([source, "-o", output, "--start", "1", "--end", "3"])
        let copied = try samples(folder.path(output))
        #expect(copied.count >= 96_000)
        let (wanted, found) = (whole[48_000..<60_000], copied[0..<12_000])
        #expect(zip(wanted, found).allSatisfy { abs($0 - $1) <= 1 })
    }

    /// The packets of Apple Lossless in CAF have no durations; each can be decoded alone.
    @Test func partsOfAppleLosslessInCAF() throws {
        let source = try noise("n.caf", ["-c:a", "alac"])
        let whole = try samples(source)
        let delivered = try #require(
            try report([source, "-o", "o.m4a", "--start", "0.7123", "--end", "2.3457"]).audio.first?.delivered)
        #expect(abs(delivered.start.seconds - 0.7123) < 0.00002 && abs(delivered.end.seconds - 2.3457) < 0.00002)
        let (copied, first) = (try samples(folder.path("o.m4a")), Int((0.7123 * 48000).rounded()))
        #expect(copied.count >= 78_403 && copied[..<78_000].elementsEqual(whole[first..<first + 78_000]))
    }

    /// When the first samples are heard that ffmpeg decodes.
    private func firstTime(_ path: String) throws -> Double {
        let times = try FFmpeg.probe([
            "-select_streams", "a", "-show_entries", "frame=best_effort_timestamp_time", "-of", "csv=p=0", path,
        ])
        return try #require(times.first.flatMap { Double($0.prefix { $0 != "," }) })
    }

    /// Matroska cannot say how much of AAC, MP3 and AC-3 is not heard, as edit lists do.
    ///
    /// AAC has one packet of 1024 samples before zero, AC-3 one of 1536 of which 256 are.
    @Test(arguments: [("aac", 1024.0 / 48000), ("ac3", (2 * 1536.0 - 256) / 48000)])
    func whatMatroskaCannotHoldIsTold(codec: String, until: Double) throws {
        let source = try noise("n.mp4", ["-c:a", codec])
        let warnings = try report([source, "-o", "o.mkv"]).warnings
        let told = warnings.filter { $0.hasPrefix("the sound may be incomplete before ") }
        #expect(warnings.count == 1 && told.count == 1, "\(warnings)")
        let number = told.first?.split(separator: " ").dropFirst(6).first.flatMap { Double($0) }
        #expect(abs((number ?? 0) - until) < 0.0001, "\(warnings)")
        let (whole, copy) = (try samples(source), try samples(folder.path("o.mkv")))
        // From there on it is the source's; noise that a decoder makes up may differ.
        let found = try lag(of: copy, in: whole, from: codec == "ac3" ? 1536 - 256 : 0)
        #expect(found.samples == 0, "\(found)")
        #expect(try report([source, "-o", "o.mov"]).warnings.isEmpty)
    }

    /// There and back: an AAC track's times stay, and nothing is told where nothing is lost.
    @Test(arguments: [("aac", "adts"), ("libopus", "ogg"), ("libmp3lame", "mp3"), ("ac3", "ac3")])
    func theWayBackKeepsTimes(codec: String, form: String) throws {
        // From version 7 on ffmpeg notes the delay of these encoders; of a raw stream it knows none.
        let raw = try noise("raw", ["-c:a", codec, "-write_xing", "0", "-f", form])
        let source = folder.path("n.mkv")
        _ = try FFmpeg.run(["-i", raw, "-c", "copy", source])
        #expect(try report([source, "-o", "o.mp4"]).warnings.isEmpty)
        #expect(try report([folder.path("o.mp4"), "-o", "back.mkv"]).warnings.isEmpty)
        let whole = try samples(source)
        for name in ["o.mp4", "back.mkv"] {
            let found = try lag(of: samples(folder.path(name)), in: whole, from: 0)
            #expect(found.samples == 0, "\(name) \(found)")
        }
    }
}
