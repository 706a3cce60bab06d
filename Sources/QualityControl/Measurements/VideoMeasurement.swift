internal import AssetKit
internal import MediaAnalysis
internal import MediaBase

/// Measures a property of a track's video for one check, or for several that share it.
protocol VideoMeasurement {
    /// Measures the next frame, in presentation order.
    mutating func measure(_ frame: VideoFrame)

    /// Counts the frame measured last, once its duration is known.
    mutating func count(ticks: Int64, from start: Int64)

    /// Writes the results to a track.
    mutating func finish(_ track: inout Measurements.Track, _ clock: VideoClock)
}

extension VideoMeasurement {
    mutating func count(ticks: Int64, from start: Int64) {}
}

/// Makes the measurement of video that a check needs.
struct VideoMeasurer: Sendable {
    /// The name under which several checks share one measurement; `nil` if only one check needs it.
    let sharedName: String?
    let make: @Sendable (Settings) -> any VideoMeasurement

    /// The settings of a measurement.
    struct Settings {
        /// The name of the check.
        let check: String
        /// The parameter sets of a check that finds runs.
        let parameters: [RunParameters]
        /// The number of ticks per second.
        let timescale: Int32
    }

    init(shared name: String? = nil, _ make: @escaping @Sendable (Settings) -> any VideoMeasurement) {
        sharedName = name
        self.make = make
    }

    /// Finds runs of frames that meet a criterion.
    static func runs(_ criterion: @escaping @Sendable (VideoFrame, RunParameters) -> Bool) -> VideoMeasurer {
        VideoMeasurer { RunMeasurement($0, criterion) }
    }

    /// Finds runs of frames of which a larger fraction than the threshold has a property.
    ///
    /// - Parameter store: Stores the largest fraction; `nil` if no frame has one.
    static func runs(
        of fraction: @escaping @Sendable (VideoFrame) -> Double?,
        store: @escaping @Sendable (inout Measurements.Track, Double?) -> Void
    ) -> VideoMeasurer {
        VideoMeasurer { FractionMeasurement($0, fraction, store) }
    }

    /// Finds frames that break the cadence of movement.
    ///
    /// - Parameter found: Returns the runs that the check is about.
    static func cadence(
        _ cadence: @escaping @Sendable (RunParameters) -> FrameCadence,
        _ found: @escaping @Sendable (FrameCadence) -> RunFinder
    ) -> VideoMeasurer {
        VideoMeasurer { CadenceMeasurement($0, cadence, found) }
    }
}

/// Finds the runs of frames that meet a criterion, for each set of a check's parameters.
private struct RunMeasurement: VideoMeasurement {
    private let settings: VideoMeasurer.Settings
    private let criterion: (VideoFrame, RunParameters) -> Bool
    private var finders: [RunFinder]
    private var holds: [Bool] = []

    init(_ settings: VideoMeasurer.Settings, _ criterion: @escaping (VideoFrame, RunParameters) -> Bool) {
        self.settings = settings
        self.criterion = criterion
        finders = settings.parameters.map { RunFinder(minimum: $0.minimum(unitsPerSecond: Double(settings.timescale))) }
    }

    mutating func measure(_ frame: VideoFrame) { holds = settings.parameters.map { criterion(frame, $0) } }

    mutating func count(ticks: Int64, from start: Int64) {
        for index in finders.indices { finders[index].append(count: ticks, holds: holds[index]) }
    }

    func finish(_ track: inout Measurements.Track, _ clock: VideoClock) {
        track.runs += clock.runs(settings, finders)
    }
}

/// Finds the runs of frames of which too large a fraction has a property, and the largest fraction.
private struct FractionMeasurement: VideoMeasurement {
    private var runs: RunMeasurement
    private let fraction: (VideoFrame) -> Double?
    private let store: (inout Measurements.Track, Double?) -> Void
    private var highest: Double?

    init(
        _ settings: VideoMeasurer.Settings, _ fraction: @escaping (VideoFrame) -> Double?,
        _ store: @escaping (inout Measurements.Track, Double?) -> Void
    ) {
        self.fraction = fraction
        self.store = store
        runs = RunMeasurement(settings) { (fraction($0) ?? 0) > $1.threshold }
    }

    mutating func measure(_ frame: VideoFrame) {
        runs.measure(frame)
        highest = [highest, fraction(frame)].compactMap(\.self).max()
    }

    mutating func count(ticks: Int64, from start: Int64) { runs.count(ticks: ticks, from: start) }

    func finish(_ track: inout Measurements.Track, _ clock: VideoClock) {
        store(&track, highest)
        if highest != nil { runs.finish(&track, clock) }
    }
}

/// Finds the frames that break the cadence of movement, for each set of a check's parameters.
private struct CadenceMeasurement: VideoMeasurement {
    private let settings: VideoMeasurer.Settings
    private let found: (FrameCadence) -> RunFinder
    private var cadences: [FrameCadence]
    private var motion: Double?

    init(
        _ settings: VideoMeasurer.Settings, _ cadence: (RunParameters) -> FrameCadence,
        _ found: @escaping (FrameCadence) -> RunFinder
    ) {
        self.settings = settings
        self.found = found
        cadences = settings.parameters.map(cadence)
    }

    mutating func measure(_ frame: VideoFrame) { motion = frame.motion }

    mutating func count(ticks: Int64, from start: Int64) {
        for index in cadences.indices { cadences[index].append(ticks: ticks, difference: motion) }
    }

    mutating func finish(_ track: inout Measurements.Track, _ clock: VideoClock) {
        for index in cadences.indices { cadences[index].finish() }
        track.runs += clock.runs(settings, cadences.map(found))
    }
}

/// Converts ticks of a video track to times.
struct VideoClock {
    let timescale: Int32
    /// The time at which the first frame is shown, from which runs are counted.
    let first: Int64

    func time(_ ticks: Int64) -> MediaTime { MediaTime(value: ticks, timescale: timescale) }

    func range(_ ticks: Range<Int64>) -> Measurements.Range {
        .init(start: time(ticks.lowerBound), end: time(ticks.upperBound))
    }

    /// Returns the runs that were found with each parameter set of a check.
    func runs(_ settings: VideoMeasurer.Settings, _ finders: [RunFinder]) -> [Measurements.Runs] {
        func place(_ ticks: Int64) -> MediaTime { time(first.addingReportingOverflow(ticks).partialValue) }
        return zip(settings.parameters, finders).map { parameters, finder in
            Measurements.Runs(
                check: settings.check, threshold: parameters.threshold, minimumDuration: parameters.minimumSeconds,
                count: finder.count, total: time(finder.total),
                ranges: finder.runs.map { .init(start: place($0.lowerBound), end: place($0.upperBound)) })
        }
    }
}

/// A video frame with luma in its own plane, ready for measuring.
final class VideoFrame {
    /// The frame's pixels, converted if the original stores luma differently.
    let pixels: PixelBuffer
    /// The time at which the frame is shown, in ticks of the track's time scale.
    let start: Int64
    /// The pixels of the preceding frame; `nil` for the first one.
    let previous: PixelBuffer?
    /// The mean difference from the preceding frame; see ``motion(since:)``.
    private(set) lazy var motion = previous.flatMap { motion(since: $0) }
    private let levels: PictureLevels
    private let isWide: Bool
    /// True if the samples are the stored ones, so that their legality can be checked.
    private let isStored: Bool
    private let size: Dimensions

    /// - Throws: `invalidArgument` if an RGB frame cannot be converted.
    init(_ pixels: PixelBuffer, start: Int64, previous: PixelBuffer?) throws(MediaError) {
        self.start = start
        self.previous = previous
        isStored = !pixels.isRGB && pixels.sampleLayout(0).map { $0.step == 1 } ?? false
        self.pixels = isStored ? pixels : try pixels.converted(to: pixels.bitDepth > 8 ? .yuv420p10 : .yuv420p)
        isWide = self.pixels.bitDepth > 8
        size = self.pixels.dimensions
        levels = PictureLevels(
            depth: self.pixels.bitDepth,
            isFullRange: self.pixels.assumedColor.range == "pc" || self.pixels.pixelFormat.rawValue.hasPrefix("yuvj"))
    }

    /// Returns whether 98 % of the luma samples are at most at this fraction of the way from black to white.
    func isBlack(threshold: Double) -> Bool {
        let (count, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        guard !overflow, count > 0 else { return false }
        let (limit, others) = (levels.code(atMost: threshold), count / 50)
        let found: Int? = withLuma {
            PlaneKernels.countAtMost(limit, in: $0, $1, others: others)
        } wide: {
            PlaneKernels.countAtMost(limit, in: $0, $1, others: others)
        }
        return found != nil
    }

    /// The fraction of luma samples that EBU R 103 does not allow; `nil` for full range.
    private(set) lazy var illegalLuma: Double? = {
        guard isStored, !levels.isFullRange, size.width > 0, size.height > 0 else { return nil }
        let range = levels.legalLuma
        let found = withLuma {
            PlaneKernels.countOutside(range, in: $0, $1)
        } wide: {
            PlaneKernels.countOutside(range, in: $0, $1)
        }
        return Double(found) / (Double(size.width) * Double(size.height))
    }()

    /// The dark rows and columns at the edges; `nil` if the whole frame is dark.
    var bars: PictureBars? {
        let limit = levels.code(atMost: 0.04)
        let found = withLuma {
            PlaneKernels.bars(atMost: limit, in: $0, $1)
        } wide: {
            PlaneKernels.bars(atMost: limit, in: $0, $1)
        }
        return found.top >= size.height ? nil : found
    }

    /// The fraction of colours that EBU R 103 does not allow, sampled on a grid of at most 128 by 72 points.
    ///
    /// The value is `nil` for full range, and for colours that are not stored as two chroma planes.
    private(set) lazy var illegalColor: Double? = {
        guard isStored, !levels.isFullRange, pixels.planeCount >= 3,
            pixels.sampleLayout(1)?.step == 1, pixels.sampleLayout(2)?.step == 1
        else { return nil }
        return isWide
            ? illegalColor(UInt16.self, PlaneKernels.illegalColor) : illegalColor(UInt8.self, PlaneKernels.illegalColor)
    }()

    private func illegalColor<Sample: FixedWidthInteger & BitwiseCopyable>(
        _ type: Sample.Type,
        _ kernel: (Span<Sample>, PlaneShape, Span<Sample>, PlaneShape, Span<Sample>, PlaneShape, YCbCrMatrix) -> Double?
    ) -> Double? {
        let (rows, bytes) = pixels.planeShape(1)
        guard pixels.planeShape(2) == (rows, bytes) else { return nil }
        let width = bytes / MemoryLayout<Sample>.size
        let matrix = YCbCrMatrix(
            name: pixels.assumedColor.matrix, isFullRange: false, storedBits: levels.depth, bits: levels.depth)
        func chroma(_ stride: Int) -> PlaneShape { PlaneShape(width: width, rows: rows, stride: stride) }
        return pixels.withSamples(of: type, plane: 0) { y, stride in
            pixels.withSamples(of: type, plane: 1) { cb, cbStride in
                pixels.withSamples(of: type, plane: 2) { cr, crStride in
                    kernel(y, luma(stride), cb, chroma(cbStride), cr, chroma(crStride), matrix)
                }
            }
        }
    }

    /// Returns whether the mean difference of all samples from another frame is at most a fraction of full scale.
    func isSame(as other: PixelBuffer, within part: Double) -> Bool {
        guard other.pixelFormat == pixels.pixelFormat, other.dimensions == pixels.dimensions else { return false }
        let shapes = (0..<pixels.planeCount).map { pixels.planeShape($0) }
        let bytes = isWide ? 2 : 1
        let count = shapes.reduce(0.0) { $0 + Double($1.rows) * Double($1.rowBytes / bytes) }
        let limit = Int(min(max(part * count * Double(1 << levels.depth), 0), 0x1p53))
        var total = 0
        for (plane, shape) in shapes.enumerated() where total <= limit {
            let width = shape.rowBytes / bytes
            let difference = self.difference(from: other, plane, width: width, rows: shape.rows, limit: limit - total)
            total = total.addingReportingOverflow(difference).overflow ? .max : total + difference
        }
        return total <= limit
    }

    /// Returns the mean luma difference from another frame, as a fraction of full scale, over every fourth row.
    ///
    /// Returns `nil` if the frames differ in format or size.
    func motion(since other: PixelBuffer) -> Double? {
        let rows = size.height / 4
        guard other.pixelFormat == pixels.pixelFormat, other.dimensions == pixels.dimensions, rows > 0, size.width > 0
        else { return nil }
        let total = difference(from: other, 0, width: size.width, rows: rows, each: 4, limit: .max - 1)
        guard total < .max else { return nil }
        return Double(total) / (Double(rows) * Double(size.width) * Double(1 << levels.depth))
    }

    /// Returns the scan type that the preceding frame appears to have, judged by its two neighbours.
    ///
    /// Returns `nil` if the frames differ in format or size, or if the scan type cannot be determined.
    func look(ofPrevious previous: PixelBuffer, before: PixelBuffer) -> CombDetector.Look? {
        let others = [previous, before]
        guard others.allSatisfy({ $0.pixelFormat == pixels.pixelFormat && $0.dimensions == pixels.dimensions }) else {
            return nil
        }
        return isWide
            ? comb(UInt16.self, previous, before) { PlaneKernels.comb($0, before: $1, after: $2, $3) }.look
            : comb(UInt8.self, previous, before) { PlaneKernels.comb($0, before: $1, after: $2, $3) }.look
    }

    private func comb<Sample: FixedWidthInteger & BitwiseCopyable>(
        _ type: Sample.Type, _ previous: PixelBuffer, _ before: PixelBuffer,
        _ kernel: (Span<Sample>, Span<Sample>, Span<Sample>, PlaneShape) -> CombDetector
    ) -> CombDetector {
        previous.withSamples(of: type, plane: 0) { plane, stride in
            before.withSamples(of: type, plane: 0) { past, pastStride in
                pixels.withSamples(of: type, plane: 0) { future, futureStride in
                    // Frames of one decoder have the same memory layout.
                    guard stride == pastStride, stride == futureStride else { return CombDetector() }
                    return kernel(plane, past, future, luma(stride))
                }
            }
        }
    }

    /// Calls one of two functions with the luma samples, depending on their size.
    private func withLuma<Result>(
        _ narrow: (Span<UInt8>, PlaneShape) -> Result, wide: (Span<UInt16>, PlaneShape) -> Result
    ) -> Result {
        isWide
            ? pixels.withSamples(of: UInt16.self, plane: 0) { wide($0, luma($1)) }
            : pixels.withSamples(of: UInt8.self, plane: 0) { narrow($0, luma($1)) }
    }

    /// Returns the sum of absolute differences of a plane from that of another frame, over each of some rows.
    private func difference(
        from other: PixelBuffer, _ plane: Int, width: Int, rows: Int, each step: Int = 1, limit: Int
    ) -> Int {
        func between<Sample: FixedWidthInteger & BitwiseCopyable>(
            _ type: Sample.Type, _ kernel: (Span<Sample>, PlaneShape, Span<Sample>, PlaneShape) -> Int
        ) -> Int {
            pixels.withSamples(of: type, plane: plane, and: other, width: width, rows: rows, each: step, kernel)
        }
        return isWide
            ? between(UInt16.self) { PlaneKernels.difference($0, $1, $2, $3, limit: limit) }
            : between(UInt8.self) { PlaneKernels.difference($0, $1, $2, $3, limit: limit) }
    }

    private func luma(_ stride: Int) -> PlaneShape {
        PlaneShape(width: size.width, rows: size.height, stride: stride)
    }
}

extension PixelBuffer {
    /// Calls a function with the samples of a plane of this frame and of another frame of the same format.
    ///
    /// - Parameter step: The distance of the rows that the function gets.
    func withSamples<Sample: FixedWidthInteger & BitwiseCopyable, Result>(
        of type: Sample.Type, plane: Int, and other: PixelBuffer, width: Int, rows: Int, each step: Int = 1,
        _ body: (Span<Sample>, PlaneShape, Span<Sample>, PlaneShape) -> Result
    ) -> Result {
        func shape(_ stride: Int) -> PlaneShape { PlaneShape(width: width, rows: rows, stride: stride * step) }
        return withSamples(of: type, plane: plane) { one, stride in
            other.withSamples(of: type, plane: plane) { two, otherStride in
                body(one, shape(stride), two, shape(otherStride))
            }
        }
    }
}
