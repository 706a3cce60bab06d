import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Sound through a reader against `golden/pcm.tsv` and, where a decoder's sums depend on the processor, against what
/// ffmpeg gives on this machine.
@Suite struct AudioPipelineTests {
    /// An audio track of a fixture, as the golden table lists it.
    struct Case: Sendable, CustomStringConvertible {
        let fixture: String
        let track: Int
        var description: String { "\(fixture) a:\(track)" }
    }

    static let cases: [Case] =
        (try? GoldenTable("pcm.tsv").rows.map { Case(fixture: try $0.text("fixture"), track: try $0.number("track")) })
        ?? []

    private func sound(_ item: Case, _ format: SampleFormat, in range: MediaTimeRange? = nil, from: Int64 = 0) throws
        -> PlacedSound
    {
        let asset = try Media.asset(item.fixture)
        let track = try Media.track(asset, .audio, item.track)
        let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: format))
        return try PlacedSound(Media.all(output, of: asset, in: range), from: from, format: format)
    }

    @Test func hasCases() { #expect(Self.cases.count > 40) }

    @Test(arguments: cases, [SampleFormat.int16, .float32])
    func isWhatFFmpegDecodes(_ item: Case, _ format: SampleFormat) throws {
        let golden = try GoldenTable.pcm(item.fixture, track: item.track)
        let got = try sound(item, format)
        let name = format == .int16 ? "s16le" : "f32le"
        let frames = try golden.number("frames")
        #expect(got.count == frames)
        #expect(got.overlaps == 0)
        // What becomes of not-a-number in 16 bits depends on the processor too.
        let isExact =
            try golden.text("exact") == "yes" && (format == .float32 || item.fixture != "pcm-f32-nonfinite.wav")
        if isExact, try Fixtures.isAsRecorded(item.fixture, golden.text("sha256")) {
            #expect(try got.digest() == golden.text(name))
        } else {
            let lead = try golden.number("lead")
            #expect(got.runs.first?.lowerBound == max(0, lead))
            let decoded = try FFmpeg.pcm(
                Fixtures.path(item.fixture), track: item.track, format: name, isWhole: true)
            let wanted = decoded.dropFirst(max(0, -lead) * got.frameBytes)
            #expect(got.delivered.elementsEqual(wanted.prefix(got.delivered.count)))
            // What the decoder gives beyond that is what the edit list cuts.
            #expect(got.delivered.count == wanted.count || got.count == frames)
        }
    }

    /// Decoders that keep a random state (noise substitution, dither): after a seek values differ, places do not.
    private static let random: Set<String> = ["aac", "ac3", "eac3"]

    @Test(arguments: cases) func aRangeIsThatPartOfTheWhole(_ item: Case) throws {
        let golden = try GoldenTable.pcm(item.fixture, track: item.track)
        let rate = try golden.number("rate")
        let whole = try sound(item, .int16)
        let length = whole.count
        let ranges = [
            0..<1, 1..<length / 2, length / 3..<length * 2 / 3, length / 2 + 1..<length, length - 1..<length,
            length * 9 / 10..<length + 5 * rate,
        ]
        for range in ranges where !range.isEmpty {
            let time = MediaTimeRange(
                start: .samples(range.lowerBound, at: rate), end: .samples(range.upperBound, at: rate))
            let got = try sound(item, .int16, in: time, from: Int64(range.lowerBound))
            let wanted = whole.part(range)
            let name: Comment = "\(item) \(range)"
            #expect(got.delivered.count / got.frameBytes == whole.deliveredCount(in: range), name)
            if Self.random.contains(try golden.text("codec")) {
                #expect(isInPlace(got.bytes, whole, range.lowerBound), name)
            } else {
                // Behind the last sound of the range nothing is delivered: silence.
                #expect(got.bytes.elementsEqual(wanted.prefix(got.bytes.count)), name)
                #expect(wanted.dropFirst(got.bytes.count).allSatisfy { $0 == 0 }, name)
            }
        }
    }

    /// Whether samples lie nearer to the whole's at the place named than at any other near it.
    private func isInPlace(_ bytes: [UInt8], _ whole: PlacedSound, _ place: Int) -> Bool {
        func sample(_ bytes: [UInt8], _ index: Int) -> Int {
            Int(Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8))
        }
        let count = min(4000, bytes.count / whole.frameBytes)
        func distance(_ shift: Int) -> Int {
            var sum = 0
            for index in 0..<count {
                let other = (place + index + shift) * whole.frameBytes
                guard other >= 0, other + 1 < whole.bytes.count else { continue }
                sum += abs(sample(bytes, index * whole.frameBytes) - sample(whole.bytes, other))
            }
            return sum
        }
        guard count > 1000 else { return true }
        let here = distance(0)
        return [-1024, -64, -2, -1, 1, 2, 64, 1024].allSatisfy { here <= distance($0) }
    }

    @Test(arguments: ["pcm_s16le", "pcm_s24le", "pcm_f32le"]) func rangesOfPCMInAMovieAreExact(_ codec: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("sound.mov")
        _ = try FFmpeg.run(["-i", Fixtures.path("pcm-s16-stereo.wav"), "-c:a", codec, path])
        let asset = Asset(path: .init(path))
        let track = try Media.track(asset, .audio)
        let settings = AudioSettings(sampleFormat: .int32)
        let whole = try PlacedSound(
            Media.all(TrackOutput(track: track, audioSettings: settings), of: asset), format: .int32)
        #expect(try whole.bytes == FFmpeg.pcm(path, format: "s32le"))
        for range in [1000..<1001, 47_999..<100_000, 144_000..<200_000] {
            let time = MediaTimeRange(
                start: .samples(range.lowerBound, at: 48_000), end: .samples(range.upperBound, at: 48_000))
            let part = try PlacedSound(
                Media.all(TrackOutput(track: track, audioSettings: settings), of: asset, in: time),
                from: Int64(range.lowerBound), format: .int32)
            #expect(part.bytes.elementsEqual(whole.part(range)))
        }
    }

    @Test(arguments: ["pcm-s16-stereo.wav", "aac.m4a", "opus.opus", "mpegts-10s.ts"])
    func boundsBetweenSamplesAreRoundedUp(_ fixture: String) throws {
        // 1/7 s and 2/7 s at 48 kHz are samples 6857.14 and 13714.28; a sample is in the range if its own time is.
        let range = MediaTimeRange(start: MediaTime(value: 1, timescale: 7), end: MediaTime(value: 2, timescale: 7))
        let item = Case(fixture: fixture, track: 0)
        let asset = try Media.asset(fixture)
        let output = TrackOutput(
            track: try Media.track(asset, .audio), audioSettings: AudioSettings(sampleFormat: .int16))
        let buffers = try Media.all(output, of: asset, in: range)
        #expect(buffers.first?.presentationTime == MediaTime(value: 6858, timescale: 48_000), "\(item)")
        #expect(buffers.last?.timeRange.end == MediaTime(value: 13_715, timescale: 48_000), "\(item)")
    }

    @Test(arguments: ["pcm-s16-stereo.wav", "aac.m4a", "mp3-lame.mp3", "gap.mkv"], [0, 1, -1, 100])
    func emptyRangesHoldNothing(_ fixture: String, _ start: Int64) throws {
        let time = MediaTime(value: start, timescale: 1)
        let item = Case(fixture: fixture, track: 0)
        #expect(try sound(item, .int16, in: MediaTimeRange(start: time, duration: .zero)).bytes.isEmpty)
        // Before zero and after the end there is nothing.
        let before = MediaTimeRange(
            start: MediaTime(value: -2, timescale: 1), duration: MediaTime(value: 1, timescale: 1))
        #expect(try sound(item, .int16, in: before).bytes.isEmpty)
        let after = MediaTimeRange(start: MediaTime(value: 60, timescale: 1), duration: .positiveInfinity)
        #expect(try sound(item, .int16, in: after).bytes.isEmpty)
    }

    @Test func aRangeThatBeginsBeforeZeroBeginsAtZero() throws {
        let range = MediaTimeRange(
            start: MediaTime(value: -1, timescale: 1), end: MediaTime(value: 1, timescale: 2))
        let item = Case(fixture: "aac.m4a", track: 0)
        #expect(try sound(item, .int16, in: range).bytes == Array(sound(item, .int16).part(0..<24_000)))
    }

    @Test func resamplingKeepsHoles() throws {
        // gap.mkv: sound at 48 kHz with half a second without packets; the golden table has the whole length.
        let asset = try Media.asset("gap.mkv")
        let track = try Media.track(asset, .audio)
        func buffers(_ rate: Int?) throws -> [SampleBuffer] {
            let settings = AudioSettings(sampleFormat: .int16, sampleRate: rate)
            return try Media.all(TrackOutput(track: track, audioSettings: settings), of: asset)
        }
        func hole(_ buffers: [SampleBuffer]) -> (start: MediaTime, end: MediaTime)? {
            zip(buffers, buffers.dropFirst()).map { ($0.timeRange.end, $1.presentationTime) }.first { $0 < $1 }
        }
        let plain = try #require(hole(buffers(nil)))
        let resampled = try buffers(44_100)
        let moved = try #require(hole(resampled))
        let slack = MediaTime(value: 2, timescale: 44_100)
        #expect((moved.start - plain.start).absoluteValue <= slack)
        #expect((moved.end - plain.end).absoluteValue <= slack)
        let end = try #require(resampled.last).timeRange.end
        let wanted = MediaTime.samples(try GoldenTable.pcm("gap.mkv").number("frames"), at: 48_000)
        #expect((end - wanted).absoluteValue <= slack)
    }

    @Test func anotherRateIsFFmpegs() throws {
        let asset = try Media.asset("pcm-s16-mono.wav")
        let settings = AudioSettings(sampleFormat: .int16, sampleRate: 48_000)
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: settings)
        let got = try PlacedSound(Media.all(output, of: asset), format: .int16)
        let wanted = try FFmpeg.run(
            ["-i", Fixtures.path("pcm-s16-mono.wav"), "-ar", "48000", "-f", "s16le", "-"])
        #expect(abs(got.count - 120_000) <= 1)
        #expect(got.bytes == wanted)
        #expect(got.overlaps == 0)
    }

    @Test func planarSoundHasAPlaneAChannel() throws {
        let asset = try Media.asset("pcm-s16-5.1.wav")
        let settings = AudioSettings(sampleFormat: .int16, isPlanar: true)
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: settings)
        var planes = [[Int16]](repeating: [], count: 6)
        for buffer in try Media.all(output, of: asset) {
            let sound = try #require(buffer.audioBuffer)
            #expect(sound.isPlanar)
            for plane in planes.indices {
                sound.withSamples(of: Int16.self, plane: plane) { span in
                    for index in span.indices { planes[plane].append(span[index]) }
                }
            }
        }
        let interleaved = try FFmpeg.pcm(Fixtures.path("pcm-s16-5.1.wav"))
        for plane in planes.indices {
            let wanted = stride(from: plane * 2, to: interleaved.count, by: 12).map {
                Int16(bitPattern: UInt16(interleaved[$0]) | UInt16(interleaved[$0 + 1]) << 8)
            }
            #expect(planes[plane] == wanted)
        }
    }
}
