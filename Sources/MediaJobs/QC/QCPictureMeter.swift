internal import AssetKit
internal import MediaAnalysis
internal import MediaBase

/// Takes every measurement of one track's pictures, which come in presentation order.
///
/// Times are counted in ticks of the track's time scale from the first picture on. How long a picture is shown is known
/// when the next one comes.
struct QCPictureMeter {
    private let request: QCRequest
    private let timescale: Int32
    private var first: Int64?
    private var pending: (facts: QCPictureFacts, start: Int64, end: Int64)?
    private var previous: PixelBuffer?
    /// The one before that, where fields are looked at.
    private var beforePrevious: PixelBuffer?
    /// For each set of parameters, the picture with which the video last moved.
    private var references: [PixelBuffer?]
    private var frozen: [FreezeDetector]
    private var black: [RunFinder]
    private var illegalLuma: [RunFinder]
    private var illegalColor: [RunFinder]
    private var count: Int64 = 0
    private var duplicates: Int64?
    /// Runs of pictures that are the same as the one before, with how many there are.
    private var duplicateRuns: [(start: Int64, end: Int64, count: Int64)] = []
    private var intervals: FrameIntervals?
    private var repeats: [FrameRhythm]
    private var jumps: [FrameRhythm]
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
        repeats = request.parameters(of: .repeatedFrames).map { FrameRhythm(stillness: $0.threshold, jump: 2) }
        jumps = request.parameters(of: .droppedFrames).map { FrameRhythm(stillness: 0, jump: $0.threshold) }
        if !request.checks.isDisjoint(with: [.missingFrames, .variableFrameRate, .headerMismatches]) {
            intervals = FrameIntervals()
        }
        duplicates = request.checks.contains(.duplicateFrames) ? 0 : nil
        if request.checks.contains(.fieldMismatch) { fields = FieldTally() }
        illegalLuma = finders(.illegalLuma)
        illegalColor = finders(.illegalColor)
    }

    /// Takes the next picture; anything else is left out.
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
        // How long the last one stays is the container's word.
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
        } else if duplicateRuns.count < RunFinder.mostRuns {
            duplicateRuns.append((start, end, 1))
        }
    }

    /// Ends the track; `nil` where no picture came.
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

/// What one picture shows, apart from when.
private struct QCPictureFacts {
    var black: [Bool] = []
    var isSame: [Bool] = []
    /// Whether it is the same as the picture before.
    var isDuplicate = false
    /// The mean difference from the picture before.
    var motion: Double?
    var illegalLuma: Double?
    var illegalColor: Double?
}
