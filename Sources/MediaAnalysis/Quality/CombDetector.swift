/// Whether a picture looks like two fields that were taken one after the other, by the measure of ffmpeg's `idet`.
///
/// Between two neighbouring lines, a line is replaced by that of the picture before, and by that of the one after. Of a whole
/// picture its own lines fit best by far, when something moves. Of two fields the own lines fit no better than those that are
/// as near in time, and the others fit worse; which these are tells the order. Unlike `idet` it asks for the first before it
/// looks for an order, so that pictures which move up or down are not taken for fields.
package struct CombDetector: Sendable, Hashable {
    /// How badly the lines of the picture before fit at even lines, and those of the picture after at odd ones.
    package var bottomFirst = 0
    /// The other way round.
    package var topFirst = 0
    /// How badly the picture's own lines fit.
    package var own = 0

    /// Makes sums of nothing.
    package init() {}

    /// What a picture looks like.
    package enum Look: Sendable, Hashable {
        /// Two fields, of which the upper one, with the first line, came first.
        case topFieldFirst
        /// Two fields, of which the lower one came first.
        case bottomFieldFirst
        /// One picture, all of whose lines are of one moment.
        case progressive
    }

    /// What the picture looks like; `nil` where too little moves to tell.
    package var look: Look? {
        let (top, bottom, own) = (Double(topFirst), Double(bottomFirst), Double(own))
        let near = min(top, bottom)
        if near > 1.5 * own { return .progressive }
        guard own >= 0.8 * near, max(top, bottom) > 1.1 * near else { return nil }
        return bottom > top ? .topFieldFirst : .bottomFieldFirst
    }
}

/// What the pictures of a track look like, beside what they are flagged as.
package struct FieldTally: Sendable, Hashable {
    /// Flagged as whole, and looking so.
    package private(set) var progressive: Int64 = 0
    /// Flagged as fields, and looking so.
    package private(set) var interlaced: Int64 = 0
    /// Flagged as fields, and looking whole.
    package private(set) var hiddenProgressive: Int64 = 0
    private var hiddenTop: Int64 = 0
    private var hiddenBottom: Int64 = 0
    private var otherOrder: Int64 = 0

    /// Begins without pictures.
    package init() {}

    /// Counts a picture.
    ///
    /// - Parameter isTopFirst: Whether it is flagged as two fields with the upper one first; `nil` where it is flagged as
    ///   whole.
    package mutating func add(_ look: CombDetector.Look, flagged isTopFirst: Bool?) {
        switch (look, isTopFirst) {
        case (.progressive, nil): progressive += 1
        case (.progressive, _): hiddenProgressive += 1
        case (.topFieldFirst, nil): hiddenTop += 1
        case (.bottomFieldFirst, nil): hiddenBottom += 1
        case (.topFieldFirst, true), (.bottomFieldFirst, false): interlaced += 1
        case (.topFieldFirst, _), (.bottomFieldFirst, _): otherOrder += 1
        }
    }

    /// Flagged as whole, and looking like fields; fields come in one order, and looks of both are chance.
    package var hiddenInterlaced: Int64 { Self.certain(max(hiddenTop, hiddenBottom), min(hiddenTop, hiddenBottom)) }

    /// Flagged as fields, and looking as if they came in the other order.
    package var swapped: Int64 { Self.certain(otherOrder, interlaced) }

    private static func certain(_ count: Int64, _ opposite: Int64) -> Int64 { count / 4 >= opposite ? count : 0 }
}

extension PlaneKernels {
    /// Compares two lines in eight of a picture with those of the ones before and after it, all of one shape.
    package static func comb(
        _ plane: Span<UInt8>, before: Span<UInt8>, after: Span<UInt8>, _ shape: PlaneShape
    ) -> CombDetector { lines(plane, before, after, shape) }

    /// The same for samples of 16 bits.
    package static func comb(
        _ plane: Span<UInt16>, before: Span<UInt16>, after: Span<UInt16>, _ shape: PlaneShape
    ) -> CombDetector { lines(plane, before, after, shape) }

    @inline(__always)
    private static func lines<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ plane: Span<Sample>, _ before: Span<Sample>, _ after: Span<Sample>, _ shape: PlaneShape
    ) -> CombDetector {
        var comb = CombDetector()
        guard shape.fits(plane.count), shape.fits(before.count), shape.fits(after.count), shape.width <= 1 << 14 else {
            return comb
        }
        for row in 2..<max(2, shape.rows - 2) where row % 8 == 2 || row % 8 == 3 {
            let (above, below) = (plane.extracting(shape.row(row - 1)), plane.extracting(shape.row(row + 1)))
            let past = misfit(above, before.extracting(shape.row(row)), below)
            let future = misfit(above, after.extracting(shape.row(row)), below)
            comb.own &+= misfit(above, plane.extracting(shape.row(row)), below)
            if row.isMultiple(of: 2) {
                comb.bottomFirst &+= past
                comb.topFirst &+= future
            } else {
                comb.topFirst &+= past
                comb.bottomFirst &+= future
            }
        }
        return comb
    }

    /// The sum of the second differences of three lines.
    @inline(__always)
    private static func misfit<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ above: Span<Sample>, _ line: Span<Sample>, _ below: Span<Sample>
    ) -> Int {
        var sum: Int32 = 0
        for x in 0..<min(above.count, line.count, below.count) {
            let outer = Int32(truncatingIfNeeded: above[x]) &+ Int32(truncatingIfNeeded: below[x])
            sum &+= abs(outer &- 2 &* Int32(truncatingIfNeeded: line[x]))
        }
        return Int(sum)
    }
}
