import AssetKit
import TestSupport
import Testing

/// Pictures by time against `golden/frames`.
@Suite struct ImageGeneratorTests {
    private func generator(_ table: FrameTable) throws -> ImageGenerator {
        let asset = try Media.asset(table.fixture)
        let generator = ImageGenerator(asset: asset)
        generator.configuration.trackIndex = try Media.track(asset, .video, table.track).index
        generator.configuration.requestedTimeToleranceBefore = .zero
        generator.configuration.requestedTimeToleranceAfter = .zero
        return generator
    }

    /// Indices in another order: the same every time.
    private func shuffled(_ count: Int) -> [Int] {
        var (indices, state) = (Array(0..<count), UInt32(7))
        for place in indices.indices.reversed() {
            state = state &* 1_664_525 &+ 1_013_904_223
            indices.swapAt(place, Int(state >> 8) % (place + 1))
        }
        return indices
    }

    @Test(arguments: FrameTable.all, ["in order", "reversed", "shuffled"])
    func everyPictureIsFoundByItsTime(_ table: FrameTable, _ order: String) throws {
        let (count, middles, sums) = (table.frames.count, table.middles, try table.sums())
        let indices =
            order == "shuffled" ? shuffled(count) : order == "reversed" ? (0..<count).reversed() : Array(0..<count)
        let generator = try generator(table)
        let found = try indices.map { try generator.pixelBuffer(at: middles[$0]) }
        #expect(found.map(\.actualTime) == indices.map { table.frames[$0].time })
        for (index, picture) in zip(indices, found) {
            guard let end = table.end(of: index) else { continue }
            #expect(picture.actualTime + picture.duration == end)
        }
        #expect(try md5(found.map(\.picture)) == indices.map { sums[$0] })
    }

    @Test(arguments: ["h264-bframes.mp4", "late-video.mp4", "mpegts-10s.ts", "vfr.mp4"])
    func boundsBelongToTheirPictures(_ fixture: String) throws {
        let table = try FrameTable(fixture)
        let generator = try generator(table)
        let tick = MediaTime(value: 1, timescale: 1_000_000)
        for index in [1, 10, 30] {
            let time = table.frames[index].time
            #expect(try generator.pixelBuffer(at: time).actualTime == time)
            #expect(try generator.pixelBuffer(at: time - tick).actualTime == table.frames[index - 1].time)
            #expect(try generator.pixelBuffer(at: time + tick).actualTime == time)
        }
    }

    @Test(arguments: ["h264-bframes.mp4", "late-video.mp4", "mpegts-10s.ts", "gif.gif", "mjpeg.avi"])
    func timesOutsideAreErrors(_ fixture: String) throws {
        let table = try FrameTable(fixture)
        let generator = try generator(table)
        let first = try #require(table.frames.first).time
        // The fixtures' frames last a tenth of a second at most.
        let outside = [
            first - MediaTime(value: 1, timescale: 10), MediaTime(value: -1, timescale: 1),
            MediaTime(value: 100, timescale: 1), .positiveInfinity, .negativeInfinity, .indefinite, .invalid,
        ]
        for time in outside {
            #expect(errorCode { try generator.pixelBuffer(at: time) } == .outOfRange, "\(time)")
            // Nor does any tolerance make them allowed when they are no moments of the track.
        }
        #expect(try generator.pixelBuffer(at: first).actualTime == first)
    }

    @Test(arguments: ["h264-bframes.mp4", "av.mp4", "late-video.mp4", "video-only.mp4"])
    func theEndGivesTheLastPicture(_ fixture: String) throws {
        let table = try FrameTable(fixture)
        let generator = try generator(table)
        let end = try Media.track(generator.asset, .video).timeRange.end
        #expect(try generator.pixelBuffer(at: end).actualTime == table.frames.last?.time)
        // Their last frames last 0.04 s: so far sound may outlast them, and nothing farther shows them.
        for (distance, isShown) in [(1, true), (3599, true), (3600, false), (90_000, false)] {
            let after = end + MediaTime(value: Int64(distance), timescale: 90_000)
            if isShown {
                #expect(try generator.pixelBuffer(at: after).actualTime == table.frames.last?.time)
            } else {
                #expect(errorCode { try generator.pixelBuffer(at: after) } == .outOfRange)
            }
        }
    }

    @Test func timesJustBeforeTheFirstPictureGiveIt() throws {
        // The pictures begin at 0.5 s, by 25 a second.
        let table = try FrameTable("late-video.mp4")
        let first = try #require(table.frames.first).time
        for tolerance in [MediaTime.zero, MediaTime(value: 1, timescale: 100)] {
            let generator = try generator(table)
            generator.configuration.requestedTimeToleranceBefore = tolerance
            generator.configuration.requestedTimeToleranceAfter = tolerance
            let near = try generator.pixelBuffer(at: first - MediaTime(value: 39, timescale: 1000))
            #expect(near.actualTime == first && near.duration == MediaTime(value: 1, timescale: 25))
            let far = first - MediaTime(value: 4, timescale: 10)
            #expect(errorCode { try generator.pixelBuffer(at: far) } == .outOfRange)
            #expect(try generator.pixelBuffer(at: first).actualTime == first)
        }
    }
}

// MARK: - Tolerance

extension ImageGeneratorTests {
    /// The rule: among the sync samples whose interval meets [T − before, T + after] the nearest, else the one at T.
    private func wanted(_ table: FrameTable, at time: MediaTime, before: MediaTime, after: MediaTime) -> MediaTime? {
        let allowed = table.frames.indices.filter { index in
            guard table.frames[index].isKey, table.frames[index].time <= time + after else { return false }
            return table.end(of: index).map { $0 > time - before } ?? true
        }.map { table.frames[$0].time }
        let nearest = allowed.min { ($0 - time).absoluteValue < ($1 - time).absoluteValue }
        return nearest ?? table.index(at: time).map { table.frames[$0].time }
    }

    static let tolerances: [(before: MediaTime, after: MediaTime)] = [
        (.zero, .zero), (.positiveInfinity, .positiveInfinity), (.positiveInfinity, .zero), (.zero, .positiveInfinity),
        (MediaTime(value: 1, timescale: 10), MediaTime(value: 1, timescale: 10)),
        (MediaTime(value: 1, timescale: 4), .zero), (.zero, MediaTime(value: 1, timescale: 4)),
        (MediaTime(value: 1, timescale: 1), MediaTime(value: 1, timescale: 5)),
    ]

    @Test(arguments: [
        "h264-opengop.mp4", "h264-bframes.mp4", "h264-opengop.ts", "h264-aac.mkv", "hevc-10bit.mp4", "h264-onekey.mp4",
    ])
    func theNearestAllowedSyncSampleIsTaken(_ fixture: String) throws {
        let table = try FrameTable(fixture)
        for (before, after) in Self.tolerances {
            let generator = try generator(table)
            generator.configuration.requestedTimeToleranceBefore = before
            generator.configuration.requestedTimeToleranceAfter = after
            for index in shuffled(table.frames.count).prefix(25) {
                let time = table.middles[index]
                let name: Comment = "\(fixture) at \(time) −\(before) +\(after)"
                let found = try generator.pixelBuffer(at: time).actualTime
                let wanted = wanted(table, at: time, before: before, after: after)
                #expect(found == wanted, name)
            }
        }
    }

    @Test func anySyncSampleWillDoByDefault() async throws {
        let table = try FrameTable("h264-bframes.mp4")
        let generator = ImageGenerator(asset: try Media.asset(table.fixture))
        let time = MediaTime(value: 8, timescale: 5)
        let found = try await generator.image(at: time)
        #expect(found.actualTime == wanted(table, at: time, before: .positiveInfinity, after: .positiveInfinity))
        #expect(found.actualTime == MediaTime(value: 2, timescale: 1))
    }
}

// MARK: - Shape

extension ImageGeneratorTests {
    private func image(_ fixture: String, _ change: (inout ImageGenerator.Configuration) -> Void = { _ in }) throws
        -> Bitmap
    {
        let generator = ImageGenerator(asset: try Media.asset(fixture))
        change(&generator.configuration)
        return try generator.generateNow(at: .zero).image
    }

    private func size(_ bitmap: Bitmap) -> Dimensions { Dimensions(width: bitmap.width, height: bitmap.height) }

    @Test func maximumSizeFitsAndNeverEnlarges() throws {
        let cases: [(limit: (Int, Int), size: (Int, Int))] = [
            ((0, 0), (160, 90)), ((80, 0), (80, 45)), ((0, 45), (80, 45)), ((80, 80), (80, 45)),
            ((320, 320), (160, 90)),
            ((1000, 9), (16, 9)), ((1, 1), (1, 1)),
        ]
        for (limit, wanted) in cases {
            let image = try image("h264-bframes.mp4") {
                $0.maximumSize = Dimensions(width: limit.0, height: limit.1)
            }
            #expect(size(image) == Dimensions(width: wanted.0, height: wanted.1), "\(limit)")
        }
    }

    @Test func turnedPicturesComeUpright() throws {
        let upright = try image("rotated-180.mov") { $0.appliesPreferredTrackTransform = false }
        #expect(size(upright) == Dimensions(width: 160, height: 90))
        for (fixture, width, height) in [
            ("rotated-90.mov", 90, 160), ("rotated-180.mov", 160, 90), ("rotated-270.mov", 90, 160),
        ] {
            let image = try image(fixture)
            #expect(size(image) == Dimensions(width: width, height: height))
            // ffmpeg turns by the display matrix too; chroma is half a pixel elsewhere in its picture.
            let wanted = try FFmpeg.run(
                ["-i", Fixtures.path(fixture), "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgba", "-"])
            #expect(image.bytes.count == wanted.count)
            #expect(
                zip(image.bytes, wanted).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } / wanted.count <= 5, "\(fixture)"
            )
        }
        let small = try image("rotated-90.mov") { $0.maximumSize = Dimensions(width: 45, height: 0) }
        #expect(size(small) == Dimensions(width: 45, height: 80))
    }

    @Test func pixelsAreMadeSquare() throws {
        #expect(size(try image("anamorphic.mp4")) == Dimensions(width: 256, height: 144))
        let stored = try image("anamorphic.mp4") { $0.apertureMode = .encodedPixels }
        #expect(size(stored) == Dimensions(width: 180, height: 144))
    }
}

// MARK: - Requests

extension ImageGeneratorTests {
    @Test func cancellingEndsWhatHasNotBegun() async throws {
        let generator = try generator(FrameTable("h264-onekey.mp4"))
        let codes = await withTaskGroup(of: MediaError.Code?.self) { group in
            for index in 0..<40 {
                group.addTask {
                    do throws(MediaError) {
                        _ = try await generator.image(at: MediaTime(value: Int64(index) * 7 % 70, timescale: 25))
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            try? await Task.sleep(for: .milliseconds(5))
            generator.cancelAllImageGeneration()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.allSatisfy { $0 == nil || $0 == .cancelled })
        // Later requests are answered.
        #expect(try await generator.image(at: .zero).actualTime == .zero)
    }

    /// Also when the picture was found a moment before.
    @Test func whenEverItIsCancelledTheNextRequestIsAnswered() async throws {
        let generator = try generator(FrameTable("h264-bframes.mp4"))
        for round in 0..<100 {
            let request = Task { try? await generator.image(at: MediaTime(value: Int64(round % 20), timescale: 25)) }
            try await Task.sleep(for: .microseconds(100 * (round % 40)))
            generator.cancelAllImageGeneration()
            _ = await request.value
            #expect(try await generator.image(at: .zero).actualTime == .zero)
        }
    }

    @Test func aCancelledTaskGetsNoImage() async throws {
        let generator = try generator(FrameTable("h264-bframes.mp4"))
        let task = Task { () -> MediaError.Code? in
            withUnsafeCurrentTask { $0?.cancel() }
            do {
                _ = try await generator.image(at: .zero)
                return nil
            } catch {
                return (error as? MediaError)?.code
            }
        }
        #expect(await task.value == .cancelled)
        #expect(try await generator.image(at: .zero).actualTime == .zero)
    }

    @Test func withoutPicturesItSaysSo() async throws {
        let generator = ImageGenerator(asset: try Media.asset("audio-only.mp4"))
        #expect(errorCode { try generator.generateNow(at: .zero) } == .noSuchTrack)
        let other = ImageGenerator(asset: try Media.asset("av.mp4"))
        for index in [1, 2, -1] {
            other.configuration.trackIndex = index
            #expect(errorCode { try other.generateNow(at: .zero) } == .noSuchTrack)
        }
        other.configuration.trackIndex = nil
        #expect(try other.generateNow(at: .zero).actualTime == .zero)
    }
}
