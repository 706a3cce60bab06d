import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Stored samples of compositions, as the library gives them and as ffmpeg reads what was written of them.
@Suite struct CompositionStoredTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func time(_ value: Int64, _ scale: Int32 = 25) -> MediaTime { MediaTime(value: value, timescale: scale) }

    /// Some frames of numbered pictures at 25 a second.
    private func frames(_ range: Range<Int64>) -> MediaTimeRange {
        MediaTimeRange(start: time(range.lowerBound), end: time(range.upperBound))
    }

    private func numbered(_ source: Int) throws -> Numbered {
        try Numbered("\(source).mp4", in: folder, source: source, rate: "25", count: 60)
    }

    /// Pieces of tracks, one behind the other; `nil` for a gap of ten frames.
    private func joined(_ pieces: [(AssetTrack, Asset, MediaTimeRange)?], _ type: MediaType = .video) throws -> Asset {
        var composition = Composition()
        let id = try composition.addTrack(mediaType: type)
        for piece in pieces {
            let end = composition.duration
            if let (track, asset, range) = piece {
                try composition.insertTimeRange(range, of: track, in: asset, at: end, into: id)
            } else {
                try composition.insertEmptyTimeRange(MediaTimeRange(start: end, duration: time(10)), intoTrack: id)
            }
        }
        return Asset(composition: composition)
    }

    private func stored(_ asset: Asset, _ type: MediaType = .video, in range: MediaTimeRange? = nil) throws
        -> [SampleBuffer]
    {
        try Media.all(TrackOutput(track: Media.track(asset, type)), of: asset, in: range)
    }

    private func bytes(_ buffer: SampleBuffer) -> [UInt8] {
        buffer.storedSample?.withBytes { $0.withUnsafeBytes { Array($0) } } ?? []
    }

    /// The hashes of a written file's packets, as ffprobe has them.
    private func hashes(_ path: String, _ stream: String = "v:0") throws -> [String] {
        try FFmpeg.probe([
            "-select_streams", stream, "-show_packets", "-show_data_hash", "MD5", "-show_entries",
            "packet=data_hash", "-of", "csv=p=0", path,
        ]).compactMap { line in line.split(separator: ",").first { $0.hasPrefix("MD5:") }.map(String.init) }
    }

    private func export(_ asset: Asset, _ name: String, _ type: MediaFileType, range: MediaTimeRange? = nil)
        async throws -> String
    {
        let path = folder.path(name)
        let session = ExportSession(asset: asset, preset: .passthrough)
        if let range { session.timeRange = range }
        try await session.export(to: FilePath(path), as: type, overwrite: true)
        return path
    }

    private func numbers(_ path: String) throws -> [Int] { try NumberedPictures.rows(path).map(Numbered.number(of:)) }

    private func refusal(_ asset: Asset, _ type: MediaType = .video) throws -> String {
        do {
            _ = try stored(asset, type)
            return "nothing"
        } catch let error as MediaError {
            #expect(error.code == .unsupported)
            return "\(error)"
        }
    }

    // MARK: Pictures

    /// Sync samples are at every twelfth frame.
    @Test(arguments: [MediaFileType.mov, .mkv]) func piecesOfTwoFilesAreJoined(type: MediaFileType) async throws {
        let (one, two) = (try numbered(1), try numbered(2))
        let asset = try joined([
            (one.track, one.asset, frames(24..<48)), (two.track, two.asset, frames(12..<36)),
            (one.track, one.asset, frames(0..<12)), (one.track, one.asset, frames(48..<60)),
        ])
        let ranges = [280..<304, 524..<548, 256..<268, 304..<316]
        let wanted = ranges.flatMap { Array($0) }
        let buffers = try stored(asset)
        #expect(buffers.map(\.presentationTime).sorted() == (0..<72).map { time($0) })
        #expect(buffers.allSatisfy { $0.duration == time(1) && !$0.attachments.contains(.isNotShown) })
        let decodes = buffers.compactMap(\.decodeTime)
        #expect(decodes.count == 72 && zip(decodes, decodes.dropFirst()).allSatisfy { $0 < $1 })
        #expect(zip(buffers, decodes).allSatisfy { $1 <= $0.presentationTime })
        let first = try stored(one.asset, in: frames(24..<48)).filter { $0.presentationTime >= time(24) }
        #expect(buffers.prefix(24).map { bytes($0) } == first.map { bytes($0) })

        let path = try await export(asset, "o.\(type)", type)
        #expect(try numbers(path) == wanted)
        #expect(try Written.frameTimes(path).compactMap(Double.init) == (0..<72).map { Double($0) / 25 })
        // As they were in their files.
        let known = Set(try hashes(folder.path("1.mp4")) + hashes(folder.path("2.mp4")))
        let written = try hashes(path)
        #expect(written.count == 72 && known.isSuperset(of: written))
    }

    /// What the first and the last picture need is there, and hidden by an edit list.
    @Test func theFirstMayBeginAndTheLastEndAnywhere() async throws {
        let one = try numbered(1)
        for end in [Int64(52), 53, 54, 55] {
            let asset = try joined([(one.track, one.asset, frames(17..<36)), (one.track, one.asset, frames(48..<end))])
            let wanted = Array(273..<292) + Array(304..<256 + Int(end))
            let buffers = try stored(asset)
            let shown = buffers.filter { !$0.attachments.contains(.isNotShown) }
            #expect(shown.map(\.presentationTime).sorted() == (0..<Int64(wanted.count)).map { time($0) })
            #expect(buffers.first?.isSync == true && buffers.first?.presentationTime == time(-5))
            let path = try await export(asset, "o.mov", .mov)
            #expect(try numbers(path) == wanted)
            #expect(try Asset(path: FilePath(path)).loadNow(.duration) == time(Int64(wanted.count)))
        }
        // A part of it, the same way.
        let asset = try joined([(one.track, one.asset, frames(12..<36)), (one.track, one.asset, frames(48..<60))])
        let path = try await export(asset, "o.mov", .mov, range: frames(3..<30))
        #expect(try numbers(path) == Array(271..<292) + Array(304..<310))
    }

    @Test func aGapBeforeThePicturesIsAnEmptyEdit() async throws {
        let one = try numbered(1)
        let path = try await export(joined([nil, (one.track, one.asset, frames(12..<36))]), "o.mov", .mov)
        let track = try Media.track(Asset(path: FilePath(path)), .video)
        #expect(track.timeRange == frames(10..<34))
        #expect(try numbers(path) == Array(268..<292))
    }

    @Test func whatDoesNotGoTogetherIsNamed() throws {
        let one = try numbered(1)
        func piece(_ range: Range<Int64>) -> (AssetTrack, Asset, MediaTimeRange) {
            (one.track, one.asset, frames(range))
        }
        #expect(try refusal(joined([piece(0..<12), piece(14..<30)])).contains("segment 2 of track 1, at 0.48 s"))
        #expect(try refusal(joined([piece(0..<12), piece(14..<30)])).contains("nearest are at 0.48 s and 0.96 s"))
        #expect(try refusal(joined([piece(0..<12), nil, piece(24..<30)])).contains("segment 2 of track 1"))
        // Of two B pictures behind each other the first one needs the P picture behind them.
        let cuts = try (1..<12).map { try refusal(joined([piece(0..<$0), piece(12..<24)])) }
        #expect(cuts.contains { $0.contains("segment 1 of track 1") && $0.contains("need one that is shown") })
        #expect(cuts.contains("nothing"))
        let other = try Media.asset("av.mp4")
        let words = try refusal(
            joined([piece(0..<12), (Media.track(other, .video), other, frames(0..<10))]))
        #expect(words.contains("segment 2") && words.contains("192x48"))
        var fast = Composition()
        let id = try fast.addTrack(mediaType: .video)
        try fast.insertTimeRange(frames(0..<24), of: one.track, in: one.asset, at: .zero, into: id)
        try fast.scaleTimeRange(frames(12..<24), toDuration: time(6), inTrack: id)
        #expect(try refusal(Asset(composition: fast)).contains("2.0 times its speed"))
    }

    @Test func anOpenGroupOfPicturesCannotFollow() throws {
        let asset = try Media.asset("h264-opengop.mp4")
        let track = try Media.track(asset, .video)
        let times = try Media.all(TrackOutput(track: track), of: asset).filter(\.isSync).map(\.presentationTime)
        let second = try #require(times.dropFirst().first)
        let length = time(5)
        let words = try refusal(
            joined([
                (track, asset, MediaTimeRange(start: .zero, end: second)),
                (track, asset, MediaTimeRange(start: second, duration: length)),
                (track, asset, MediaTimeRange(start: second, duration: length)),
            ]))
        #expect(words != "nothing", "\(words)")
    }

    // MARK: Sound

    @Test(arguments: [MediaFileType.wav, .mov, .mkv]) func linearPCMIsCutToTheSample(type: MediaFileType) async throws {
        let noise = Made.noise(96000)
        let sound = try WrittenSound("a.wav", in: folder, samples: noise, rate: 48000)
        func piece(_ start: MediaTime, _ end: MediaTime) -> (AssetTrack, Asset, MediaTimeRange) {
            (sound.track, sound.asset, MediaTimeRange(start: start, end: end))
        }
        let asset = try joined(
            [piece(time(1001, 30000), time(5, 7)), nil, piece(time(1, 3), time(7, 11)), piece(time(1), time(2))],
            .audio)
        let decoded = try Written.sound(asset).samples
        var together: [UInt8] = []
        var place = MediaTime.zero
        for buffer in try stored(asset, .audio) {
            // Gaps are holes between the times.
            let hole = (buffer.presentationTime - place).sampleIndex(rate: 48000, rounding: .halfAwayFromZero) ?? 0
            together += [UInt8](repeating: 0, count: Int(hole) * 2) + bytes(buffer)
            place = buffer.timeRange.end
        }
        #expect(together == decoded.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
        let path = try await export(asset, "o.\(type)", type)
        let written = try FFmpeg.pcm(path, format: "s16le")
        #expect(Array(written) == together)
    }

    @Test func codedSoundIsCutBetweenPackets() async throws {
        let asset = try Media.asset("aac.m4a")
        let track = try Media.track(asset, .audio)
        let rate = Int32(clamping: try #require(track.formatDescriptions.first?.audio?.sampleRate))
        func piece(_ start: Int64, _ end: Int64) -> (AssetTrack, Asset, MediaTimeRange) {
            (track, asset, MediaTimeRange(start: time(start * 1024, rate), end: time(end * 1024, rate)))
        }
        let whole = try stored(asset, .audio)
        let first = try #require(whole.firstIndex { $0.presentationTime == .zero })
        let cut = try joined([piece(4, 9), piece(2, 6)], .audio)
        let buffers = try stored(cut, .audio).filter { !$0.attachments.contains(.isNotShown) }
        #expect(buffers.map(\.presentationTime) == (0..<9).map { time($0 * 1024, rate) })
        let wanted = (Array(4..<9) + Array(2..<6)).map { whole[first + $0] }
        #expect(buffers.map { bytes($0) } == wanted.map { bytes($0) })
        let path = try await export(cut, "o.m4a", .m4a)
        #expect(try Asset(path: FilePath(path)).loadNow(.duration) == time(9 * 1024, rate))
        let packets = try hashes(path, "a:0")
        #expect(try Set(hashes(Fixtures.path("aac.m4a"), "a:0")).isSuperset(of: packets) && packets.count >= 9)

        let inside = try joined(
            [piece(4, 9), (track, asset, MediaTimeRange(start: time(2500, rate), end: time(9000, rate)))], .audio)
        #expect(try refusal(inside, .audio).contains("begins inside a packet"))
        let cutShort = try joined(
            [(track, asset, MediaTimeRange(start: .zero, end: time(2500, rate))), piece(4, 9)], .audio)
        #expect(try refusal(cutShort, .audio).contains("ends inside a packet"))
    }
}
