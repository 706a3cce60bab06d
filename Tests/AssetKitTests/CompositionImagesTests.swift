import AssetKit
import TestSupport
import Testing

/// Images of compositions by the numbers that their pictures carry.
@Suite struct CompositionImagesTests {
    private func time(_ value: Int64, _ scale: Int32) -> MediaTime { MediaTime(value: value, timescale: scale) }
    private func range(_ start: MediaTime, _ end: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: start, end: end)
    }

    private func number(_ image: Bitmap) -> Int {
        Numbered.number(of: (0..<Numbered.size.width).map { image[$0, 20].green })
    }

    @Test func imagesAreThoseOfTheSegments() async throws {
        let folder = try TemporaryFolder()
        let sources = [
            try Numbered("a.mp4", in: folder, source: 1, rate: "25", count: 60),
            try Numbered("b.mp4", in: folder, source: 2, rate: "30000/1001", count: 60, input: ["-ss", "0.3"]),
        ]
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .video)
        // Short pieces of both in turn, a gap at the end of each pair.
        var expected: [(time: MediaTime, number: Int?)] = []
        for piece in 0..<8 {
            let source = sources[piece % 2]
            let from = time(Int64(piece * 7 % 5), 7)
            let start = composition.duration
            let length = time(1, 9)
            try composition.insertTimeRange(
                MediaTimeRange(start: from, duration: length), of: source.track, in: source.asset, at: start, into: id)
            for part in [time(0, 1), time(1, 20), time(1, 10)] {
                expected.append((start + part, source.number(at: from + part)))
            }
            if piece % 2 == 1 {
                let end = composition.duration
                try composition.insertEmptyTimeRange(MediaTimeRange(start: end, duration: time(1, 13)), intoTrack: id)
                expected.append((end + time(1, 30), nil))
            }
        }
        try composition.removeTimeRange(range(composition.duration - time(1, 13), composition.duration))
        expected.removeLast()
        let asset = Asset(composition: composition)
        let generator = ImageGenerator(asset: asset)
        generator.configuration.requestedTimeToleranceBefore = .zero
        generator.configuration.requestedTimeToleranceAfter = .zero
        for (moment, wanted) in expected.shuffled() {
            let image = try generator.generateNow(at: moment)
            // A gap is black, and so is the number 0.
            #expect(number(image.image) == wanted ?? 0)
            #expect(image.actualTime <= moment && moment < image.actualTime + image.duration)
        }
        // The very end shows the last picture, what lies outside nothing.
        let last = try generator.generateNow(at: composition.duration)
        #expect(last.actualTime < composition.duration)
        #expect(last.actualTime + last.duration == composition.duration)
        let after = composition.duration + time(1, 1000)
        #expect(errorCode { try generator.generateNow(at: after) } == .outOfRange)
        // With any tolerance an image stays within its segment.
        let loose = ImageGenerator(asset: asset)
        for (moment, wanted) in expected {
            let image = try loose.generateNow(at: moment)
            let segment = try #require(composition.tracks[0].segment(at: moment))
            #expect(segment.timeRange.contains(image.actualTime))
            #expect(number(image.image) >> 8 == (wanted ?? 0) >> 8)
        }
        var answers = 0
        for await result in loose.images(for: expected.map(\.time)) {
            if case .success = result { answers += 1 }
        }
        #expect(answers == expected.count)
    }

    @Test func imagesOfAVideoCompositionAreItsFrames() throws {
        let folder = try TemporaryFolder()
        let first = try Numbered("a.mp4", in: folder, source: 1, rate: "25", count: 30)
        let second = try Numbered("b.mp4", in: folder, source: 2, rate: "24", count: 30)
        var composition = Composition()
        var ids: [Int] = []
        for source in [first, second] {
            let id = try composition.addTrack(mediaType: .video)
            try composition.insertTimeRange(
                range(.zero, time(1, 1)), of: source.track, in: source.asset, at: .zero, into: id)
            ids.append(id)
        }
        let asset = Asset(composition: composition)
        var below = VideoComposition.Layer(trackID: ids[1])
        try below.transform.set(.translation(x: 0, y: 48), at: .zero)
        let video = VideoComposition(
            renderSize: Dimensions(width: 192, height: 96), frameDuration: time(1, 30),
            instructions: [.init(timeRange: range(.zero, time(1, 1)), layers: [.init(trackID: ids[0]), below])])
        let generator = ImageGenerator(asset: asset)
        generator.videoComposition = video
        let output = try VideoCompositionOutput(tracks: asset.loadNow(.tracks), videoComposition: video)
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        try reader.startReading()
        var count = 0
        while let frame = try output.nextSampleBuffer() {
            count += 1
            guard count % 4 == 1 else { continue }
            let picture = try #require(frame.pixelBuffer)
            let image = try generator.generateNow(at: frame.presentationTime + time(1, 100))
            #expect(image.actualTime == frame.presentationTime)
            #expect(image.image.bytes == picture.packedPlane(0))
            #expect(number(image.image) == first.number(at: frame.presentationTime))
        }
        #expect(count == 30)
        #expect(try generator.generateNow(at: time(1, 1)).actualTime == time(29, 30))
        generator.configuration.maximumSize = Dimensions(width: 96, height: 0)
        #expect(try generator.generateNow(at: .zero).image.width == 96)
    }
}
