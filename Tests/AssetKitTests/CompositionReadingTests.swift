import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Pictures by the numbers that they carry, and sound by its samples.
@Suite struct CompositionReadingTests {
    private func range(_ start: MediaTime, _ duration: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: start, duration: duration)
    }

    private func time(_ value: Int64, _ scale: Int32) -> MediaTime { MediaTime(value: value, timescale: scale) }

    private func all(
        _ composition: Composition, _ type: MediaType, _ settings: TrackOutput.Settings,
        in range: MediaTimeRange? = nil
    ) throws -> [SampleBuffer] {
        let asset = Asset(composition: composition)
        let track = try Media.track(asset, type)
        let output: TrackOutput
        switch settings {
        case .stored: output = TrackOutput(track: track)
        case .audio(let settings): output = TrackOutput(track: track, audioSettings: settings)
        case .video(let settings): output = TrackOutput(track: track, videoSettings: settings)
        }
        return try Media.all(output, of: asset, in: range)
    }

    // MARK: Pictures

    @Test func everyPictureIsTheRightOneAtTheRightTime() throws {
        let folder = try TemporaryFolder()
        let sources = [
            try Numbered("a.mp4", in: folder, source: 1, rate: "25", count: 60),
            try Numbered("b.mp4", in: folder, source: 2, rate: "30000/1001", count: 80, input: ["-ss", "0.71"]),
            try Numbered("c.mov", in: folder, source: 3, rate: "24", count: 50, isTurned: true),
        ]
        #expect(sources[2].track.preferredTransform.rotation != 0)
        #expect(!sources[1].track.segments.isEmpty && (sources[1].frames.first?.number ?? 0) > 2 * 256)
        // Which source, from where, for how long, and how long that lasts; `nil` for a gap.
        let pieces: [(source: Int?, start: MediaTime, length: MediaTime, shown: MediaTime)] = [
            (0, time(1, 3), time(1, 2), time(1, 2)), (1, time(1001, 30000), time(17017, 30000), time(17017, 30000)),
            (2, .zero, time(7, 24), time(7, 24)), (nil, .zero, time(1, 7), time(1, 7)),
            (0, time(50, 25), time(9, 25), time(9, 25)), (1, time(1, 2), time(1, 1), time(1, 3)),
            (2, time(3, 24), time(11, 48), time(11, 12)), (0, .zero, time(2, 25), time(2, 25)),
        ]
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .video)
        for piece in pieces {
            let end = composition.duration
            guard let number = piece.source else {
                try composition.insertEmptyTimeRange(range(end, piece.shown), intoTrack: id)
                continue
            }
            try composition.insertTimeRange(
                range(piece.start, piece.length), of: sources[number].track, in: sources[number].asset, at: end,
                into: id)
            if piece.length != piece.shown {
                try composition.scaleTimeRange(range(end, piece.length), toDuration: piece.shown, inTrack: id)
            }
        }
        let total = pieces.reduce(MediaTime.zero) { $0 + $1.shown }
        #expect(composition.duration == total)

        /// The number that is on screen at a time.
        func expected(at moment: MediaTime) -> Int? {
            var border = MediaTime.zero
            for piece in pieces {
                if moment < border + piece.shown {
                    // Gaps are black, and so is the number 0.
                    guard let number = piece.source else { return 0 }
                    let passed = (moment - border).multiplied(
                        by: Rational(piece.length)?.divided(by: Rational(piece.shown) ?? .one) ?? .one)
                    return sources[number].number(at: piece.start + passed)
                }
                border += piece.shown
            }
            return nil
        }
        func check(_ buffers: [SampleBuffer], covering wanted: MediaTimeRange) throws {
            let tiny = time(1, 10_000_000)
            var shown = MediaTime.zero
            for (buffer, next) in zip(buffers, buffers.dropFirst().map(Optional.some) + [nil]) {
                let picture = try #require(buffer.pixelBuffer)
                let number = Numbered.number(of: picture)
                #expect(number == expected(at: buffer.presentationTime))
                #expect(number == expected(at: buffer.timeRange.end - tiny))
                if let next { #expect(buffer.timeRange.end == next.presentationTime) }
                shown += buffer.timeRange.intersection(wanted).duration
            }
            #expect(shown == wanted.duration)
        }
        let whole = try all(composition, .video, .video(VideoSettings()))
        try check(whole, covering: range(.zero, total))
        #expect(whole.count > 60)
        // From any place, the same pictures.
        for start in [time(1, 10), time(6, 5), time(2, 1)] {
            let part = range(start, time(3, 4))
            let buffers = try all(composition, .video, .video(VideoSettings()), in: part)
            try check(buffers, covering: part)
            let known = whole.filter { !$0.timeRange.intersection(part).isEmpty }
            #expect(buffers.map(\.presentationTime) == known.map(\.presentationTime))
        }
        // A turned source is as it is stored, and converted as asked.
        let scaled = try all(
            composition, .video,
            .video(VideoSettings(pixelFormat: .rgba, dimensions: Dimensions(width: 96, height: 24))))
        #expect(scaled.count == whole.count)
        #expect(scaled.allSatisfy { $0.pixelBuffer?.dimensions.width == 96 && $0.pixelBuffer?.pixelFormat == .rgba })
    }

    /// Single frames of two sources in no order: decoders are kept, moved by seeks, or go on from where they are.
    @Test(arguments: ["mp4", "mkv"]) func shuffledCutsShowTheRightPictures(_ type: String) throws {
        let folder = try TemporaryFolder()
        let sources = [
            try Numbered("a.\(type == "mp4" ? "mp4" : "mov")", in: folder, source: 1, rate: "25", count: 200),
            try Numbered("b.mp4", in: folder, source: 2, rate: "25", count: 200, input: ["-ss", "0.32"]),
        ]
        var assets = sources.map { ($0.asset, $0.track) }
        if type == "mkv" {
            // The same pictures in another container, which has an index of sync samples only.
            let path = folder.path("a.mkv")
            _ = try FFmpeg.run(["-i", folder.path("a.mov"), "-c", "copy", path])
            let asset = Asset(path: FilePath(path))
            assets[0] = (asset, try Media.track(asset, .video))
        }
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .video)
        var wanted: [Int?] = []
        // Pairs of neighbours, and jumps of all lengths in both directions.
        for cut in 0..<120 {
            let source = cut % 3 == 2 ? 1 : 0
            let frame = cut % 10 < 2 ? cut : cut * 67 % 180
            let start = time(Int64(frame), 25)
            try composition.insertTimeRange(
                range(start, time(1, 25)), of: assets[source].1, in: assets[source].0, at: time(Int64(cut), 25),
                into: id)
            wanted.append(sources[source].number(at: start))
        }
        let frames = try all(composition, .video, .video(VideoSettings()))
        #expect(frames.compactMap(\.pixelBuffer).map { Optional(Numbered.number(of: $0)) } == wanted)
        #expect(frames.map(\.timeRange) == (0..<120).map { range(time($0, 25), time(1, 25)) })
    }

    // MARK: Sound

    private func samples(_ buffers: [SampleBuffer], from first: Int64 = 0) throws -> [Int16] {
        var list: [Int16] = []
        for buffer in buffers {
            let sound = try #require(buffer.audioBuffer)
            // One unbroken run.
            #expect(buffer.presentationTime == .samples(list.count + Int(first), at: sound.sampleRate))
            sound.withSamples(of: Int16.self) { span in for index in span.indices { list.append(span[index]) } }
        }
        return list
    }

    @Test func soundIsExactToTheSample() throws {
        let folder = try TemporaryFolder()
        let noise = [Made.noise(96000), Made.noise(96000, from: 500_000)]
        let sources = try noise.enumerated().map {
            try WrittenSound("\($0).wav", in: folder, samples: $1, rate: 48000)
        }
        // Cuts between samples, at frames of 30000/1001 and 24000/1001.
        let pieces: [(source: Int?, start: MediaTime, length: MediaTime)] = [
            (0, time(1001, 30000), time(7007, 30000)), (1, time(5, 7), time(1, 3)), (nil, .zero, time(1, 11)),
            (1, .zero, time(1, 48000)), (0, time(3, 2), time(1, 1)), (0, time(11, 24), time(1001, 24000)),
        ]
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .audio)
        var wanted: [Int16] = []
        for piece in pieces {
            let start = composition.duration
            if let number = piece.source {
                try composition.insertTimeRange(
                    range(piece.start, piece.length), of: sources[number].track, in: sources[number].asset, at: start,
                    into: id)
            } else {
                try composition.insertEmptyTimeRange(range(start, piece.length), intoTrack: id)
            }
            // In whole numbers: sample n sounds at n/48000, and takes the nearest of the source.
            let end = composition.duration
            let last = try #require(end.sampleIndex(rate: 48000, rounding: .up))
            let offset = try #require((piece.start - start).sampleIndex(rate: 48000, rounding: .halfAwayFromZero))
            while wanted.count < Int(last) {
                let place = wanted.count + Int(offset)
                let isShown = piece.source != nil && place < 96000
                wanted.append(isShown ? noise[piece.source ?? 0][place] : 0)
            }
        }
        let settings = TrackOutput.Settings.audio(AudioSettings(sampleFormat: .int16))
        let isWhole = try samples(all(composition, .audio, settings)) == wanted
        #expect(isWhole)
        for (start, length) in [(time(1, 4), time(1, 2)), (time(13, 17), time(10, 1)), (time(1, 100), time(1, 1000))] {
            let asked = range(start, length)
            let first = try #require(start.sampleIndex(rate: 48000, rounding: .up))
            let last = min(Int(try #require(asked.end.sampleIndex(rate: 48000, rounding: .up))), wanted.count)
            let isPart =
                try samples(all(composition, .audio, settings, in: asked), from: first)
                == Array(wanted[Int(first)..<last])
            #expect(isPart)
        }
    }

    @Test func anotherRateIsThatOfTheWholeSource() throws {
        let asset = try Media.asset("alac.m4a")
        let track = try Media.track(asset, .audio)
        let settings = AudioSettings(sampleFormat: .int16, sampleRate: 48000)
        let whole = try samples(Media.all(TrackOutput(track: track, audioSettings: settings), of: asset))
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .audio)
        let second = time(1, 1)
        try composition.insertTimeRange(range(second, second), of: track, in: asset, at: .zero, into: id)
        try composition.insertTimeRange(
            range(time(1, 4), time(1, 2)), of: track, in: asset, at: second, into: id)
        let got = try samples(all(composition, .audio, .audio(settings)))
        #expect(got.count == 72000)
        let wanted = Array(whole[48000..<96000] + whole[12000..<36000])
        let difference = zip(got, wanted).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(difference <= 1)
    }

    @Test func fasterSoundHasMorePitchAndNoDrift() throws {
        let folder = try TemporaryFolder()
        let rate = 48000
        let tone = (0..<rate * 2).map { Int16(12000 * sin(2 * Double.pi * 440 * Double($0) / Double(rate))) }
        let source = try WrittenSound("tone.wav", in: folder, samples: tone, rate: rate)
        for speed in [Rational(3, 2), Rational(1, 2), Rational(1001, 1000)] {
            var composition = Composition()
            let id = try composition.addTrack(mediaType: .audio)
            let length = time(3, 2)
            try composition.insertTimeRange(
                range(time(1, 4), length), of: source.track, in: source.asset, at: .zero, into: id)
            let shown = length.multiplied(by: speed.den, dividedBy: speed.num)
            try composition.scaleTimeRange(range(.zero, length), toDuration: shown)
            let asset = Asset(composition: composition)
            let output = TrackOutput(
                track: try Media.track(asset, .audio), audioSettings: AudioSettings(sampleFormat: .int16))
            output.audioTimePitchAlgorithm = .varispeed
            let got = try samples(Media.all(output, of: asset))
            #expect(got.count == Int(try #require(shown.sampleIndex(rate: 48000, rounding: .up))))
            let worst = got.enumerated().map { index, value in
                let moment = 0.25 + Double(index) / Double(rate) * speed.doubleValue
                return abs(Double(value) - 12000 * sin(2 * Double.pi * 440 * moment))
            }.max()
            #expect((worst ?? .infinity) < 4)
        }
    }

    @Test func tenThousandClipsHoldFewFilesOpen() throws {
        let folder = try TemporaryFolder()
        let sources = try (0..<4).map {
            try WrittenSound("\($0).wav", in: folder, samples: Made.noise(4800, from: $0 * 4800), rate: 48000)
        }
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .audio)
        var wanted: [Int16] = []
        for clip in 0..<10_000 {
            let source = sources[clip % 4]
            let first = clip * 37 % 4000
            try composition.insertTimeRange(
                range(.samples(first, at: 48000), .samples(20, at: 48000)), of: source.track, in: source.asset,
                at: .samples(clip * 20, at: 48000), into: id)
            wanted += Made.noise(20, from: clip % 4 * 4800 + first)
        }
        let asset = Asset(composition: composition)
        let output = TrackOutput(
            track: try Media.track(asset, .audio), audioSettings: AudioSettings(sampleFormat: .int16))
        // Some of them, from the middle: each costs as much as opening a file does.
        let part = 4000 * 20..<4500 * 20
        let reader = try Media.start(
            output, of: asset, in: range(.samples(part.lowerBound, at: 48000), .samples(part.count, at: 48000)))
        var got: [Int16] = []
        var open = 0
        while let buffer = try output.nextSampleBuffer() {
            buffer.audioBuffer?.withSamples(of: Int16.self) { span in
                for index in span.indices { got.append(span[index]) }
            }
            if got.count % 1000 == 0 {
                let links = (0..<1000).compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                }
                open = max(open, links.filter { $0.hasPrefix(folder.path) }.count)
            }
        }
        let isEqual = got == Array(wanted[part])
        #expect(isEqual)
        #expect(open <= 2)
        #expect(reader.status == .completed)
    }

    // MARK: What goes wrong

    @Test func aSourceThatIsGoneOrChangedIsNamed() throws {
        let folder = try TemporaryFolder()
        func read(_ spoil: (WrittenSound) throws -> Void) throws -> MediaError? {
            let source = try WrittenSound("x.wav", in: folder, samples: Made.noise(4800), rate: 48000)
            var composition = Composition()
            let id = try composition.addTrack(mediaType: .audio)
            try composition.insertTimeRange(
                range(.zero, time(1, 20)), of: source.track, in: source.asset, at: .zero, into: id)
            try spoil(source)
            do {
                _ = try all(composition, .audio, .audio(AudioSettings()))
                return nil
            } catch let error as MediaError {
                return error
            }
        }
        #expect(try read { _ in } == nil)
        let gone = try read { try FileManager.default.removeItem(atPath: $0.path) }
        #expect(gone?.code == .notFound && gone?.path?.hasSuffix("x.wav") == true)
        let changed = try read { _ in
            _ = try WrittenSound("x.wav", in: folder, samples: Made.noise(9600), rate: 48000)
        }
        #expect(changed?.code == .inputOutput && changed?.message.contains("changed") == true)
    }

    @Test func cancellingEndsIt() throws {
        let asset = try Media.asset("av.mp4")
        var composition = Composition()
        try composition.insertTimeRange(range(.zero, time(1, 1)), of: asset, at: .zero)
        let made = Asset(composition: composition)
        let output = TrackOutput(track: try Media.track(made, .video), videoSettings: VideoSettings())
        let sound = TrackOutput(track: try Media.track(made, .audio), audioSettings: AudioSettings())
        let reader = try AssetReader(asset: made)
        try reader.add(output)
        try reader.add(sound)
        try reader.startReading()
        #expect(try output.nextSampleBuffer() != nil)
        #expect(try sound.nextSampleBuffer() != nil)
        reader.cancelReading()
        #expect(errorCode { try output.nextSampleBuffer() } == .cancelled)
        #expect(errorCode { try sound.nextSampleBuffer() } == .cancelled)
        #expect(reader.status == .cancelled)
    }
}
