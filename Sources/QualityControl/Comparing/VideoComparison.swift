internal import AssetKit
internal import MediaAnalysis
internal import MediaBase

/// Compares the video of two files, pairing frames that are shown at the same time.
///
/// The reference's frames are converted to the size and pixel format of the other file if they differ.
struct VideoComparison {
    let file: Asset
    let reference: Asset
    let threads: Int
    /// True if the scores of each frame are kept.
    let keepsFrames: Bool

    /// The difference between one frame and its counterpart.
    struct Score {
        /// The mean squared error of each component, followed by the similarities.
        var errors: [Double] = []
        var similarities: [Double] = []
        /// The share of all samples that belongs to each component.
        var weights: [Double] = []
        var peak = 255.0

        var error: Double { zip(errors, weights).reduce(0) { $0 + $1.0 * $1.1 } }
        var similarity: Double { zip(similarities, weights).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    /// Reads both files and compares their frames.
    func run() throws(MediaError)
        -> ReferenceMeasurements.Outcome<(ReferenceMeasurements.Pictures, [ReferenceMeasurements.Frame])>
    {
        guard let otherTrack = try Self.track(of: reference) else { return .notApplicable }
        guard let track = try Self.track(of: file) else { return .missing("has no pictures") }
        let output = try file.samplesNow(of: track, as: .video(VideoSettings()), threads: threads)
        guard var picture = try output.nextSampleBuffer(), let first = picture.pixelBuffer else {
            return .missing("has no pictures")
        }
        let format = Self.comparable(first)
        let settings = VideoSettings(pixelFormat: format, dimensions: first.dimensions)
        let other = try reference.samplesNow(of: otherTrack, as: .video(settings), threads: threads)
        // Each file rounds times to its own ticks.
        let ticks =
            MediaTime(value: 1, timescale: max(1, track.naturalTimeScale))
            + MediaTime(value: 1, timescale: max(1, otherTrack.naturalTimeScale))
        var (current, next) = (try other.nextSampleBuffer(), try other.nextSampleBuffer())
        if current == nil { return .notApplicable }
        var tally = ComparisonTally(keepsFrames: keepsFrames)
        var isUsed = false
        var meter = Meter()
        while true {
            let time = picture.presentationTime
            let shown = picture.duration > .zero ? min(ticks, picture.duration) : ticks
            let slack = shown.multiplied(by: Rational(1, 2))
            while let following = next, following.presentationTime <= time + slack {
                if !isUsed { tally.unpaired += 1 }
                (current, isUsed) = (following, false)
                next = try other.nextSampleBuffer()
            }
            if let pixels = picture.pixelBuffer, let partner = current, let wanted = partner.pixelBuffer,
                partner.presentationTime <= time + slack
            {
                if isUsed { tally.unpaired += 1 }
                isUsed = true
                let own =
                    pixels.pixelFormat == format && pixels.dimensions == first.dimensions
                    ? pixels : try pixels.converted(to: format, dimensions: first.dimensions)
                if let score = meter.score(own, wanted) { tally.add(score, shown: picture.timeRange) }
            } else {
                tally.unpaired += 1
            }
            guard let following = try output.nextSampleBuffer() else { break }
            picture = following
        }
        if current != nil, !isUsed { tally.unpaired += 1 }
        while next != nil {
            tally.unpaired += 1
            next = try other.nextSampleBuffer()
        }
        return .compared((tally.result, tally.frames))
    }

    private static func track(of asset: Asset) throws(MediaError) -> AssetTrack? {
        try asset.loadNow(.tracks).first { $0.mediaType == .video && !$0.isAttachedPicture }
    }

    /// Returns a planar format in which frames like this one can be compared.
    private static func comparable(_ picture: PixelBuffer) -> PixelFormat {
        let isPlanar = (0..<picture.planeCount).allSatisfy { picture.sampleLayout($0).map { $0.step == 1 } ?? false }
        if isPlanar { return picture.pixelFormat }
        guard picture.isRGB else { return picture.bitDepth > 8 ? .yuv420p10 : .yuv420p }
        return switch picture.bitDepth {
        case ...8: PixelFormat(rawValue: "gbrp")
        case ...10: PixelFormat(rawValue: "gbrp10le")
        case ...12: PixelFormat(rawValue: "gbrp12le")
        case ...14: PixelFormat(rawValue: "gbrp14le")
        default: PixelFormat(rawValue: "gbrp16le")
        }
    }

    /// Compares frames that have the same format and size.
    private struct Meter {
        private var similarity: StructuralSimilarity?

        mutating func score(_ one: PixelBuffer, _ other: PixelBuffer) -> Score? {
            guard one.pixelFormat == other.pixelFormat, one.dimensions == other.dimensions else { return nil }
            // Alpha is ignored.
            let planes = min(one.planeCount, 3)
            let bytes = one.bitDepth > 8 ? 2 : 1
            let shapes = (0..<planes).map { one.planeShape($0) }
            let counts = shapes.map { Double($0.rows) * Double($0.rowBytes / bytes) }
            let all = counts.reduce(0, +)
            guard all > 0 else { return nil }
            var score = Score()
            score.peak = Double(1 << one.bitDepth) - 1
            if similarity == nil { similarity = StructuralSimilarity(depth: one.bitDepth) }
            for plane in 0..<planes {
                let (rows, width) = (shapes[plane].rows, shapes[plane].rowBytes / bytes)
                let found =
                    bytes == 2
                    ? one.withSamples(of: UInt16.self, plane: plane, and: other, width: width, rows: rows) {
                        (PictureDifference.squares($0, $1, $2, $3), similarity?.mean($0, $1, $2, $3))
                    }
                    : one.withSamples(of: UInt8.self, plane: plane, and: other, width: width, rows: rows) {
                        (PictureDifference.squares($0, $1, $2, $3), similarity?.mean($0, $1, $2, $3))
                    }
                guard let squares = found.0 else { return nil }
                score.errors.append(Double(squares) / counts[plane])
                // A plane smaller than a window gets the first plane's similarity.
                score.similarities.append(found.1 ?? score.similarities.first ?? 1)
                score.weights.append(counts[plane] / all)
            }
            return score
        }
    }
}

/// Accumulates the scores of all compared frames.
struct ComparisonTally {
    let keepsFrames: Bool
    var unpaired: Int64 = 0
    private(set) var frames: [ReferenceMeasurements.Frame] = []
    private var count: Int64 = 0
    private var errors = Measure(perfect: 0, isWorse: >)
    private var similarities = Measure(perfect: 1, isWorse: <)
    private var peak = 255.0

    /// The sums of one measure over all frames.
    private struct Measure {
        /// The value of frames that do not differ.
        let perfect: Double
        let isWorse: (Double, Double) -> Bool
        private var components: [Double] = []
        private var total = 0.0
        private var worst: (value: Double, shown: MediaTimeRange, frame: Int64)?

        init(perfect: Double, isWorse: @escaping (Double, Double) -> Bool) {
            self.perfect = perfect
            self.isWorse = isWorse
        }

        mutating func add(_ values: [Double], all: Double, shown: MediaTimeRange, frame: Int64) {
            if components.isEmpty { components = values.map { _ in 0 } }
            for index in components.indices where index < values.count { components[index] += values[index] }
            total += all
            if isWorse(all, worst?.value ?? perfect) { worst = (all, shown, frame) }
        }

        /// Returns the means and the worst value of a number of frames, converted to the unit of the report.
        func scores(frames count: Int64, _ convert: (Double) -> Double?) -> ReferenceMeasurements.Scores {
            let number = Double(max(1, count))
            return .init(
                luma: components.first.flatMap { convert($0 / number) },
                chroma: components.dropFirst().map { convert($0 / number) },
                all: count == 0 ? nil : convert(total / number),
                minimum: count == 0 ? nil : convert(worst?.value ?? perfect), worst: worst?.shown.start,
                worstEnd: worst?.shown.end, worstFrame: worst?.frame)
        }
    }

    init(keepsFrames: Bool) { self.keepsFrames = keepsFrames }

    /// Adds the score of a frame.
    ///
    /// - Parameter shown: The time range in which the frame is shown.
    mutating func add(_ score: VideoComparison.Score, shown: MediaTimeRange) {
        let error = score.error
        // The weights may not add up to exactly one.
        let similarity = error == 0 ? 1 : score.similarity
        errors.add(score.errors, all: error, shown: shown, frame: count)
        similarities.add(score.similarities, all: similarity, shown: shown, frame: count)
        peak = score.peak
        count += 1
        if keepsFrames {
            frames.append(
                .init(
                    time: shown.start,
                    psnr: (score.errors + [error]).map { PictureDifference.psnr(error: $0, peak: score.peak) },
                    similarities: (score.similarities + [similarity]).map { Float($0) }))
        }
    }

    var result: ReferenceMeasurements.Pictures {
        .init(
            count: count, unpaired: unpaired,
            psnr: errors.scores(frames: count) { PictureDifference.psnr(error: $0, peak: peak).ifFinite },
            ssim: similarities.scores(frames: count) { $0 })
    }
}
