import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Where sound begins and ends by the container's own word, whatever the version of FFmpeg makes of it: counts are
/// arithmetic on what the file says, and samples are compared with what ffmpeg decodes when it cuts nothing.
@Suite struct SoundEndsTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// All samples that are heard, in 16 bits; a late start is silence.
    private func heard(_ path: String) throws -> [Int16] {
        let asset = Asset(path: FilePath(path))
        let output = TrackOutput(
            track: try Media.track(asset, .audio), audioSettings: AudioSettings(sampleFormat: .int16))
        let sound = try PlacedSound(Media.all(output, of: asset), format: .int16)
        #expect(sound.overlaps == 0)
        return Self.samples(sound.bytes)
    }

    /// All samples that are stored.
    private func stored(_ path: String) throws -> [Int16] {
        Self.samples(
            try FFmpeg.run([
                "-ignore_editlist", "1", "-flags2", "+skip_manual", "-i", path, "-map", "0:a:0", "-f", "s16le", "-",
            ]))
    }

    private static func samples(_ bytes: [UInt8]) -> [Int16] {
        stride(from: 0, to: bytes.count - 1, by: 2).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
    }

    /// Three seconds of noise at 48 kHz, 144,000 samples, as AAC: 142 packets of 1024, of which 1024 samples are priming.
    private func aac(_ name: String) throws -> [UInt8] {
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "anoisesrc=r=48000:d=3:seed=7:a=0.3", "-c:a", "aac", "-movie_timescale", "48000",
            "-fflags", "+bitexact", "-map_metadata", "-1", folder.path(name),
        ])
        return try folder.bytes(name)
    }

    private static let whole = 142 * 1024

    // MARK: Edit lists

    /// An edit list in samples, the silence at the start, which stored samples are heard, and why.
    struct Edits: Sendable {
        let entries: [EditList.Entry]
        let silence: Int
        let heard: Range<Int>

        static let all = [
            // As ffmpeg writes it.
            Edits(entries: [.init(144_033, 1024)], silence: 0, heard: 1024..<145_057),
            // Twice the priming, as another encoder has it.
            Edits(entries: [.init(143_360, 2048)], silence: 0, heard: 2048..<145_408),
            // Late by less than a packet, and whole to the end: 1008 + 145,408 samples.
            Edits(entries: [.init(1008, -1), .init(145_408, 0)], silence: 1008, heard: 0..<145_408),
            // An end inside a packet, which the durations in the tables do not tell.
            Edits(entries: [.init(100_001, 1024)], silence: 0, heard: 1024..<101_025),
            // An end that lies after the last packet's: there is no more than there is.
            Edits(entries: [.init(200_000, 1024)], silence: 0, heard: 1024..<145_408),
            // To the end of the media.
            Edits(entries: [.init(0, 1024)], silence: 0, heard: 1024..<145_408),
        ]
    }

    @Test(arguments: Edits.all) func editListsEndSound(edits: Edits) throws {
        let plain = try aac("plain.mov")
        let all = try stored(folder.path("plain.mov"))
        #expect(all.count == Self.whole)
        let path = try folder.write("edited.mov", EditList.replacing(edits.entries, in: plain))
        let heard = try heard(path)
        #expect(heard.count == edits.silence + edits.heard.count)
        #expect(heard.prefix(edits.silence).allSatisfy { $0 == 0 })
        #expect(Array(heard.dropFirst(edits.silence)) == Array(all[edits.heard]))
    }

    // MARK: Without an edit list

    /// Adds what iTunes notes to a movie whose index lies at the file's end.
    private func noting(_ text: String, in movie: [UInt8]) -> [UInt8] {
        func big(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
            let content = content.flatMap { $0 }
            return big(8 + content.count) + Array(type.utf8) + content
        }
        let item = box(
            "----", box("mean", big(0), Array("com.apple.iTunes".utf8)), box("name", big(0), Array("iTunSMPB".utf8)),
            box("data", big(1), big(0), Array(text.utf8)))
        let handler = box("hdlr", big(0), big(0), Array("mdirappl".utf8), big(0), big(0), [0])
        let added = box("udta", box("meta", big(0), handler, box("ilst", item)))
        let name = Array("moov".utf8)
        let moov = (movie.indices.dropLast(4).last { Array(movie[$0..<$0 + 4]) == name } ?? 4) - 4
        let size = movie[moov..<moov + 4].reduce(0) { $0 << 8 | Int($1) }
        var result = movie
        result.replaceSubrange(moov..<moov + 4, with: big(size + added.count))
        result.insert(contentsOf: added, at: moov + size)
        return result
    }

    @Test(arguments: [(1024, 0, 144_384), (2112, 960, 142_336), (1024, 33_333, 111_051)])
    func iTunesNotesWhatIsHeard(priming: Int, remainder: Int, count: Int) throws {
        #expect(priming + remainder + count == Self.whole)
        let plain = try aac("plain.m4a")
        let all = try stored(folder.path("plain.m4a"))
        let text = String(format: " 00000000 %08X %08X %016X 00000000 00000000", priming, remainder, count)
        let path = try folder.write("noted.m4a", noting(text, in: EditList.replacing([], in: plain)))
        #expect(try heard(path) == Array(all[priming..<priming + count]))
        let asset = Asset(path: FilePath(path))
        let track = try Media.track(asset, .audio)
        #expect(track.timeRange == MediaTimeRange(start: .zero, end: .samples(count, at: 48_000)))
        #expect(try asset.loadNow(.duration) == .samples(count, at: 48_000))
        #expect(track.formatDescriptions.first?.audio?.priming == priming)
        #expect(track.formatDescriptions.first?.audio?.remainder == remainder)
        // A part that is reached by a seek is that part.
        let range = MediaTimeRange(start: .samples(48_000, at: 48_000), end: .samples(96_000, at: 48_000))
        let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
        let part = try PlacedSound(Media.all(output, of: asset, in: range), from: 48_000, format: .int16)
        #expect(part.count == 48_000 && part.runs.first?.lowerBound == 48_000)
    }

    @Test func anEditListCountsMoreThanWhatITunesNotes() throws {
        let plain = try aac("plain.m4a")
        let all = try stored(folder.path("plain.m4a"))
        let edited = try EditList.replacing([.init(144_000, 1024)], in: plain)
        let text = " 00000000 00000840 00000000 000000000000FFFF 00000000 00000000"
        let path = try folder.write("noted.m4a", noting(text, in: edited))
        #expect(try heard(path) == Array(all[1024..<145_024]))
    }

    @Test(arguments: [(0, 144_000), (1000, 140_000), (4096, 100_001)])
    func packetTablesOfCAFEndSound(priming: Int, count: Int) throws {
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "anoisesrc=r=48000:d=3:seed=7:a=0.3", "-c:a", "alac", folder.path("plain.caf"),
        ])
        var bytes = try folder.bytes("plain.caf")
        let all = Self.samples(
            try FFmpeg.run(["-flags2", "+skip_manual", "-i", folder.path("plain.caf"), "-f", "s16le", "-"]))
        #expect(all.count >= 144_000)
        let name = Array("pakt".utf8)
        let table = try #require(bytes.indices.dropLast(4).last { Array(bytes[$0..<$0 + 4]) == name })
        func big(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
        }
        let rest = big(count, 8) + big(priming, 4) + big(0, 4)
        bytes.replaceSubrange(table + 20..<table + 36, with: rest)
        let path = try folder.write("edited.caf", bytes)
        let wanted = Array(all[priming..<min(all.count, priming + count)])
        #expect(try heard(path) == wanted)
        #expect(try Media.track(Asset(path: FilePath(path)), .audio).timeRange.duration == .samples(count, at: 48_000))
    }

    // MARK: Files of other people's making

    /// Counts by what the files say: the valid frames of the packet table (54 packets of 4096 less 684); the count of
    /// `iTunSMPB`, 0x15888; an edit of 5.167 s at 44,100 Hz, rounded up.
    @Test(
        .enabled(if: Corpus.folder != nil),
        arguments: [
            ("audiofile/sine20.caf", 54 * 4096 - 684), ("fate/tones_quicktimeX_44100_stereo_aac_lc.m4a", 0x15888),
            ("rails/rotated_video.mp4", 227_865),
        ])
    func filesOfOthersHaveTheirSamples(name: String, count: Int) throws {
        let asset = Asset(path: FilePath(try #require(Corpus.path(name))))
        let track = try Media.track(asset, .audio)
        let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
        #expect(try PlacedSound(Media.all(output, of: asset), format: .int16).count == count)
    }

    /// A CodecDelay of 23,219,955 ns at 44,100 Hz, which times of a millisecond round to 1014 samples.
    @Test(.enabled(if: Corpus.folder != nil)) func codecDelayOfMatroskaIsCutToTheSample() throws {
        let path = try #require(Corpus.path("androidx/sample_with_chapters.mkv"))
        let all = Self.samples(
            try FFmpeg.run(["-flags2", "+skip_manual", "-i", path, "-map", "0:a:0", "-f", "s16le", "-"]))
        let track = try Media.track(Asset(path: FilePath(path)), .audio)
        let channels = try #require(track.formatDescriptions.first?.audio?.channels)
        #expect(try heard(path) == Array(all.dropFirst(1024 * channels)))
    }

    /// An edit of 3.001 s at 48 kHz.
    @Test func editsOfMillisecondsEndBetweenSamples() throws {
        let output = TrackOutput(
            track: try Media.track(Media.asset("chapters.mp4"), .audio),
            audioSettings: AudioSettings(sampleFormat: .int16))
        #expect(try PlacedSound(Media.all(output, of: Media.asset("chapters.mp4")), format: .int16).count == 144_048)
    }

    /// The original of what iTunes encoded: the samples lie where they lay.
    @Test(.enabled(if: Corpus.folder != nil)) func soundOfITunesLiesWhereItWas() throws {
        let coded = try #require(Corpus.path("fate/tones_quicktimeX_44100_stereo_aac_lc.m4a"))
        let original = try FFmpeg.pcm(try #require(Corpus.path("fate/tones_44100_stereo.wav")))
        let wanted = Self.samples(original).map(Double.init)
        let found = try heard(coded).map(Double.init)
        #expect(found.count == wanted.count)
        func misfit(by frames: Int) -> Double {
            let shift = 2 * frames
            return (20_000..<60_000).reduce(0.0) { $0 + abs(found[$1 + shift] - wanted[$1]) }
        }
        let misfits = (-8...8).map(misfit)
        #expect(misfits.min() == misfits[8], "\(misfits)")
    }
}
