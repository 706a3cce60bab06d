internal import AssetKit
internal import MediaAnalysis
internal import MediaBase

/// A video frame with luma in its own plane, ready for measuring.
struct QCPicture {
    /// The frame's pixels, converted if the original stores luma differently.
    let pixels: PixelBuffer
    private let levels: PictureLevels
    private let isWide: Bool
    /// True if the samples are the stored ones, so that their legality can be checked.
    private let isStored: Bool
    private let size: Dimensions

    /// - Throws: `invalidArgument` if an RGB frame cannot be converted.
    init(_ pixels: PixelBuffer) throws(MediaError) {
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
        let found: Int? =
            isWide
            ? pixels.withSamples(of: UInt16.self, plane: 0) { samples, stride in
                PlaneKernels.countAtMost(limit, in: samples, luma(stride), others: others)
            }
            : pixels.withSamples(of: UInt8.self, plane: 0) { samples, stride in
                PlaneKernels.countAtMost(limit, in: samples, luma(stride), others: others)
            }
        return found != nil
    }

    /// The fraction of luma samples that EBU R 103 does not allow; `nil` for full range.
    var illegalLuma: Double? {
        guard isStored, !levels.isFullRange, size.width > 0, size.height > 0 else { return nil }
        let range = levels.legalLuma
        let found =
            isWide
            ? pixels.withSamples(of: UInt16.self, plane: 0) { samples, stride in
                PlaneKernels.countOutside(range, in: samples, luma(stride))
            }
            : pixels.withSamples(of: UInt8.self, plane: 0) { samples, stride in
                PlaneKernels.countOutside(range, in: samples, luma(stride))
            }
        return Double(found) / (Double(size.width) * Double(size.height))
    }

    /// The dark rows and columns at the edges; `nil` if the whole frame is dark.
    var bars: PictureBars? {
        let limit = levels.code(atMost: 0.04)
        let found =
            isWide
            ? pixels.withSamples(of: UInt16.self, plane: 0) { samples, stride in
                PlaneKernels.bars(atMost: limit, in: samples, luma(stride))
            }
            : pixels.withSamples(of: UInt8.self, plane: 0) { samples, stride in
                PlaneKernels.bars(atMost: limit, in: samples, luma(stride))
            }
        return found.top >= size.height ? nil : found
    }

    /// The fraction of colours that EBU R 103 does not allow, sampled on a grid of at most 128 by 72 points.
    ///
    /// The value is `nil` for full range, and for colours that are not stored as two chroma planes.
    var illegalColor: Double? {
        guard isStored, !levels.isFullRange, pixels.planeCount >= 3,
            pixels.sampleLayout(1)?.step == 1, pixels.sampleLayout(2)?.step == 1
        else { return nil }
        return isWide ? illegalColor(UInt16.self) : illegalColor(UInt8.self)
    }

    private func illegalColor<Sample: FixedWidthInteger & BitwiseCopyable>(_ type: Sample.Type) -> Double? {
        let (rows, bytes) = pixels.planeShape(1)
        let width = bytes / MemoryLayout<Sample>.size
        guard rows > 0, width > 0, pixels.planeShape(2) == (rows, bytes) else { return nil }
        let matrix = YCbCrMatrix(
            name: pixels.assumedColor.matrix, isFullRange: false, storedBits: levels.depth, bits: levels.depth)
        let (columns, lines) = (min(width, 128), min(rows, 72))
        var illegal = 0
        pixels.withSamples(of: type, plane: 0) { luma, lumaStride in
            pixels.withSamples(of: type, plane: 1) { blue, blueStride in
                pixels.withSamples(of: type, plane: 2) { red, redStride in
                    for line in 0..<lines {
                        let y = line * rows / lines
                        for column in 0..<columns {
                            let x = column * width / columns
                            let place = (y * size.height / rows) * lumaStride + x * size.width / width
                            let (cb, cr) = (y * blueStride + x, y * redStride + x)
                            guard luma.indices.contains(place), blue.indices.contains(cb), red.indices.contains(cr)
                            else { continue }
                            let color = matrix.rgb(luma: Double(luma[place]), cb: Double(blue[cb]), cr: Double(red[cr]))
                            let isLegal = PictureLevels.isLegal(red: color.red, green: color.green, blue: color.blue)
                            illegal += isLegal ? 0 : 1
                        }
                    }
                }
            }
        }
        return Double(illegal) / Double(columns * lines)
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
            let difference =
                isWide
                ? self.difference(UInt16.self, plane, other, width, shape.rows, limit - total) {
                    PlaneKernels.difference($0, $1, $2, $3, limit: $4)
                }
                : self.difference(UInt8.self, plane, other, width, shape.rows, limit - total) {
                    PlaneKernels.difference($0, $1, $2, $3, limit: $4)
                }
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
        func shape(_ stride: Int) -> PlaneShape { PlaneShape(width: size.width, rows: rows, stride: stride * 4) }
        let total =
            isWide
            ? withLuma(UInt16.self, other) {
                PlaneKernels.difference($0, shape($1), $2, shape($3), limit: .max - 1)
            }
            : withLuma(UInt8.self, other) {
                PlaneKernels.difference($0, shape($1), $2, shape($3), limit: .max - 1)
            }
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

    private func withLuma<Sample: FixedWidthInteger & BitwiseCopyable, Result>(
        _ type: Sample.Type, _ other: PixelBuffer, _ body: (Span<Sample>, Int, Span<Sample>, Int) -> Result
    ) -> Result {
        pixels.withSamples(of: type, plane: 0) { one, stride in
            other.withSamples(of: type, plane: 0) { two, otherStride in body(one, stride, two, otherStride) }
        }
    }

    private func difference<Sample: FixedWidthInteger & BitwiseCopyable>(
        _ type: Sample.Type, _ plane: Int, _ other: PixelBuffer, _ width: Int, _ rows: Int, _ limit: Int,
        _ kernel: (Span<Sample>, PlaneShape, Span<Sample>, PlaneShape, Int) -> Int
    ) -> Int {
        pixels.withSamples(of: type, plane: plane) { one, stride in
            other.withSamples(of: type, plane: plane) { two, otherStride in
                kernel(
                    one, PlaneShape(width: width, rows: rows, stride: stride), two,
                    PlaneShape(width: width, rows: rows, stride: otherStride), limit)
            }
        }
    }

    private func luma(_ stride: Int) -> PlaneShape {
        PlaneShape(width: size.width, rows: size.height, stride: stride)
    }
}

/// Measures the video of one track, frame by frame in presentation order.
///
/// Times are counted in ticks of the track's time scale. The duration of a frame is known once the next one arrives.
struct QCPictureMeter {
    private let request: QCRequest
    private let timescale: Int32
    private var first: Int64?
    private var pending: (facts: QCPictureFacts, start: Int64, end: Int64)?
    private var previous: PixelBuffer?
    /// The frame before `previous`, if fields are checked.
    private var beforePrevious: PixelBuffer?
    /// The frame at which the video last moved, for each set of parameters.
    private var references: [PixelBuffer?]
    private var frozen: [FreezeDetector]
    private var black: [RunFinder]
    private var illegalLuma: [RunFinder]
    private var illegalColor: [RunFinder]
    private var count: Int64 = 0
    private var duplicates: Int64?
    /// The runs of frames identical to the preceding frame, with the number of frames.
    private var duplicateRuns: [(start: Int64, end: Int64, count: Int64)] = []
    private var intervals: FrameIntervals?
    private var repeats: [FrameCadence]
    private var jumps: [FrameCadence]
    private var fields: FieldTally?
    private var size: Dimensions?
    private var lastSize: Dimensions?
    private var sizeChanges: Int64 = 0
    private var worstLuma: Double?
    private var worstColor: Double?
    private var bars: PictureBars?
    private var nextBars: Int64 = .min

    init(_ request: QCRequest, timescale: Int32) {
        self.request = request
        self.timescale = timescale
        func finders(_ check: QCCheck) -> [RunFinder] {
            request.parameters(of: check).map {
                RunFinder(minimum: $0.minimum(unitsPerSecond: Double(timescale)))
            }
        }
        frozen = request.parameters(of: .freeze).map {
            FreezeDetector(minimum: $0.minimum(unitsPerSecond: Double(timescale)))
        }
        references = Array(repeating: nil, count: frozen.count)
        black = finders(.black)
        repeats = request.parameters(of: .repeatedFrames).map { FrameCadence(stillness: $0.threshold, jump: 2) }
        jumps = request.parameters(of: .droppedFrames).map { FrameCadence(stillness: 0, jump: $0.threshold) }
        if !request.checks.isDisjoint(with: [.missingFrames, .variableFrameRate, .headerMismatches]) {
            intervals = FrameIntervals()
        }
        duplicates = request.checks.contains(.duplicateFrames) ? 0 : nil
        if request.checks.contains(.fieldMismatch) { fields = FieldTally() }
        illegalLuma = finders(.illegalLuma)
        illegalColor = finders(.illegalColor)
    }

    /// Measures the next frame; samples without a decoded frame are ignored.
    mutating func append(_ sample: SampleBuffer) throws(MediaError) {
        guard let pixels = sample.pixelBuffer,
            let start = sample.presentationTime.sampleIndex(rate: timescale, rounding: .halfAwayFromZero)
        else { return }
        let end = sample.timeRange.end.sampleIndex(rate: timescale, rounding: .halfAwayFromZero) ?? start
        let picture = try QCPicture(pixels)
        var facts = QCPictureFacts()
        facts.black = request.parameters(of: .black).map { picture.isBlack(threshold: $0.threshold) }
        if request.checks.contains(.illegalLuma) { facts.illegalLuma = picture.illegalLuma }
        if request.checks.contains(.illegalColor) { facts.illegalColor = picture.illegalColor }
        for (index, parameters) in request.parameters(of: .freeze).enumerated() {
            let isSame = references[index].map { picture.isSame(as: $0, within: parameters.threshold) } ?? false
            facts.isSame.append(isSame)
            if !isSame { references[index] = picture.pixels }
        }
        if let previous { compare(picture, with: previous, &facts) }
        if fields != nil { beforePrevious = previous }
        previous = picture.pixels
        if let lastSize, lastSize != pixels.dimensions { sizeChanges += 1 }
        lastSize = pixels.dimensions
        size = size ?? lastSize
        if needsBars, start >= nextBars, let found = picture.bars {
            bars = bars?.common(with: found) ?? found
            nextBars = start.addingReportingOverflow(Int64(timescale)).partialValue
        }
        takePending(until: start)
        if first == nil { first = start }
        count += 1
        pending = (facts, start, max(start, end))
    }

    private var needsBars: Bool { !request.checks.isDisjoint(with: [.letterboxRows, .letterboxColumns]) }

    private mutating func compare(_ picture: QCPicture, with previous: PixelBuffer, _ facts: inout QCPictureFacts) {
        if let count = duplicates, picture.isSame(as: previous, within: 0) {
            duplicates = count + 1
            facts.isDuplicate = true
        }
        if !repeats.isEmpty || !jumps.isEmpty { facts.motion = picture.motion(since: previous) }
        guard let before = beforePrevious, let look = picture.look(ofPrevious: previous, before: before) else { return }
        fields?.add(look, flagged: previous.isInterlaced ? previous.isTopFieldFirst : nil)
    }

    private mutating func takePending(until end: Int64, isLast: Bool = false) {
        guard let (facts, start, _) = pending else { return }
        pending = nil
        let ticks = max(0, end.subtractingReportingOverflow(start).partialValue)
        if facts.isDuplicate { noteDuplicate(from: start, until: max(start, end)) }
        // The duration of the last frame is only declared by the container.
        if !isLast { intervals?.append(start: start, ticks: ticks) }
        for index in repeats.indices { repeats[index].append(ticks: ticks, difference: facts.motion) }
        for index in jumps.indices { jumps[index].append(ticks: ticks, difference: facts.motion) }
        for index in frozen.indices { frozen[index].append(ticks: ticks, isSame: facts.isSame[index]) }
        for index in black.indices { black[index].append(count: ticks, holds: facts.black[index]) }
        for (index, parameters) in request.parameters(of: .illegalLuma).enumerated() {
            illegalLuma[index].append(count: ticks, holds: (facts.illegalLuma ?? 0) > parameters.threshold)
        }
        for (index, parameters) in request.parameters(of: .illegalColor).enumerated() {
            illegalColor[index].append(count: ticks, holds: (facts.illegalColor ?? 0) > parameters.threshold)
        }
        worstLuma = [worstLuma, facts.illegalLuma].compactMap(\.self).max()
        worstColor = [worstColor, facts.illegalColor].compactMap(\.self).max()
    }

    private mutating func noteDuplicate(from start: Int64, until end: Int64) {
        if let last = duplicateRuns.last, last.end == start {
            duplicateRuns[duplicateRuns.count - 1] = (last.start, end, last.count + 1)
        } else if duplicateRuns.count < RunFinder.maximumRuns {
            duplicateRuns.append((start, end, 1))
        }
    }

    /// Finishes the track; returns `nil` if there were no frames.
    mutating func finish(trackIndex: Int) -> QCMeasurements.Track? {
        guard count > 0 else { return nil }
        let (last, end) = (pending?.start, pending?.end)
        if let end { takePending(until: end, isLast: true) }
        for index in repeats.indices { repeats[index].finish() }
        for index in jumps.indices { jumps[index].finish() }
        func time(_ ticks: Int64) -> MediaTime { MediaTime(value: ticks, timescale: timescale) }
        let missing = intervals?.missing ?? nil
        let pictures = QCMeasurements.Pictures(
            count: count, start: first.map(time),
            lastStart: last.map(time), end: end.map(time), duplicates: duplicates,
            duplicateRuns: duplicateRuns.map { (.init(start: time($0.start), end: time($0.end)), $0.count) },
            usualDuration: intervals?.usual.map(time), isVariable: intervals?.isVariable, missing: missing?.count,
            firstMissing: missing?.first.map { .init(start: time($0.lowerBound), end: time($0.upperBound)) },
            fields: fields.map { .init($0) }, size: size, sizeChanges: sizeChanges, illegalLuma: worstLuma,
            illegalColor: worstColor,
            bars: bars.map { .init(top: $0.top, bottom: $0.bottom, left: $0.left, right: $0.right) })
        var runs: [QCMeasurements.Runs] = []
        func add(_ check: QCCheck, _ finders: [RunFinder]) {
            for (parameters, finder) in zip(request.parameters(of: check), finders) {
                runs.append(self.runs(check, parameters, finder))
            }
        }
        add(.black, black)
        add(.freeze, frozen.map(\.result))
        add(.repeatedFrames, repeats.map(\.repeats))
        add(.droppedFrames, jumps.map(\.jumps))
        if worstLuma != nil { add(.illegalLuma, illegalLuma) }
        if worstColor != nil { add(.illegalColor, illegalColor) }
        return QCMeasurements.Track(trackIndex: trackIndex, pictures: pictures, runs: runs)
    }

    private func runs(_ check: QCCheck, _ parameters: QCRunParameters, _ finder: RunFinder) -> QCMeasurements.Runs {
        func time(_ ticks: Int64) -> MediaTime {
            MediaTime(value: (first ?? 0).addingReportingOverflow(ticks).partialValue, timescale: timescale)
        }
        return QCMeasurements.Runs(
            check: check.rawValue, threshold: parameters.threshold, minimumDuration: parameters.minimumSeconds,
            count: finder.count, total: MediaTime(value: finder.total, timescale: timescale),
            ranges: finder.runs.map { .init(start: time($0.lowerBound), end: time($0.upperBound)) })
    }
}

/// The measurements of one frame, apart from its time.
private struct QCPictureFacts {
    var black: [Bool] = []
    var isSame: [Bool] = []
    /// True if the frame is identical to the preceding one.
    var isDuplicate = false
    /// The mean difference from the preceding frame.
    var motion: Double?
    var illegalLuma: Double?
    var illegalColor: Double?
}
