/// Detects frames that consist of two fields captured one after the other, by the measure of ffmpeg's `idet`.
///
/// Lines are compared with their two neighbours: first the frame's own line, then the same line of the previous frame
/// and of the next frame in its place. If there is motion, the own lines of a progressive frame fit best by far. In an
/// interlaced frame, the own lines fit no better than the lines of the adjacent frame that is equally near in time, and
/// the lines of the other adjacent frame fit worse; this shows the field order. Unlike `idet`, the detector looks for a
/// field order only if the own lines do not fit best, so that vertical motion is not mistaken for fields.
package struct CombDetector: Sendable, Hashable {
    /// The misfit of the previous frame's lines at even rows and of the next frame's lines at odd rows.
    package var bottomFirst = 0
    /// The misfit of the previous frame's lines at odd rows and of the next frame's lines at even rows.
    package var topFirst = 0
    /// The misfit of the frame's own lines.
    package var own = 0

    /// Creates sums of zero.
    package init() {}

    /// The apparent field structure of a frame.
    package enum Look: Sendable, Hashable {
        /// Two fields, of which the upper one, with the first line, came first.
        case topFieldFirst
        /// Two fields, of which the lower one came first.
        case bottomFieldFirst
        /// A progressive frame, all of whose lines were captured at the same time.
        case progressive
    }

    /// The apparent field structure of the frame; `nil` if there is too little motion to decide.
    package var look: Look? {
        let (top, bottom, own) = (Double(topFirst), Double(bottomFirst), Double(own))
        let near = min(top, bottom)
        if near > 1.5 * own { return .progressive }
        guard own >= 0.8 * near, max(top, bottom) > 1.1 * near else { return nil }
        return bottom > top ? .topFieldFirst : .bottomFieldFirst
    }
}

/// The apparent field structure of a track's frames, compared with their flags.
package struct FieldTally: Sendable, Hashable {
    /// The number of frames that are flagged and look progressive.
    package private(set) var progressive: Int64 = 0
    /// The number of frames that are flagged and look interlaced, with the same field order.
    package private(set) var interlaced: Int64 = 0
    /// The number of frames flagged as interlaced that look progressive.
    package private(set) var hiddenProgressive: Int64 = 0
    private var hiddenTop: Int64 = 0
    private var hiddenBottom: Int64 = 0
    private var otherOrder: Int64 = 0

    /// Creates a tally without frames.
    package init() {}

    /// Counts a frame.
    ///
    /// - Parameter isTopFirst: True if the frame is flagged as interlaced with the upper field first, false for the
    ///   lower field first; `nil` if it is flagged as progressive.
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

    /// The number of frames flagged as progressive that look interlaced.
    ///
    /// A real interlaced source has one field order. The count is 0 unless one order is at least four times as frequent
    /// as the other, because both orders together are chance.
    package var hiddenInterlaced: Int64 { Self.certain(max(hiddenTop, hiddenBottom), min(hiddenTop, hiddenBottom)) }

    /// The number of frames flagged as interlaced that look as if their fields came in the other order.
    ///
    /// The count is 0 unless it is at least four times ``interlaced``.
    package var swapped: Int64 { Self.certain(otherOrder, interlaced) }

    private static func certain(_ count: Int64, _ opposite: Int64) -> Int64 { count / 4 >= opposite ? count : 0 }
}

extension PlaneKernels {
    /// Compares two lines in every eight of a frame with those of the previous and next frames, which have the same
    /// shape.
    ///
    /// A frame of 720 lines or more is compared in two lines of every sixteen.
    package static func comb(
        _ plane: Span<UInt8>, before: Span<UInt8>, after: Span<UInt8>, _ shape: PlaneShape
    ) -> CombDetector { lines(plane, before, after, shape, in: Int16.self) }

    /// Compares the lines of a frame with those of its neighbours, for 16-bit samples.
    package static func comb(
        _ plane: Span<UInt16>, before: Span<UInt16>, after: Span<UInt16>, _ shape: PlaneShape
    ) -> CombDetector { lines(plane, before, after, shape, in: Int32.self) }

    /// Adds up the misfits, with sums of three samples in numbers of the type `Wide`; short ones are faster.
    @inline(__always)
    private static func lines<
        Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable, Wide: FixedWidthInteger & SignedInteger
    >(
        _ plane: Span<Sample>, _ before: Span<Sample>, _ after: Span<Sample>, _ shape: PlaneShape, in wide: Wide.Type
    ) -> CombDetector {
        var comb = CombDetector()
        guard shape.fits(plane.count), shape.fits(before.count), shape.fits(after.count), shape.width <= 1 << 14 else {
            return comb
        }
        let step = shape.rows < 720 ? 8 : 16
        for row in 2..<max(2, shape.rows - 2) where row % step == 2 || row % step == 3 {
            let (above, below) = (plane.extracting(shape.row(row - 1)), plane.extracting(shape.row(row + 1)))
            let line = plane.extracting(shape.row(row))
            let (last, next) = (before.extracting(shape.row(row)), after.extracting(shape.row(row)))
            var (own, past, future): (Int32, Int32, Int32) = (0, 0, 0)
            for x in 0..<min(above.count, below.count, line.count, last.count, next.count) {
                let outer = Wide(truncatingIfNeeded: above[x]) &+ Wide(truncatingIfNeeded: below[x])
                own &+= misfit(outer, line[x])
                past &+= misfit(outer, last[x])
                future &+= misfit(outer, next[x])
            }
            comb.own &+= Int(own)
            comb.bottomFirst &+= Int(row.isMultiple(of: 2) ? past : future)
            comb.topFirst &+= Int(row.isMultiple(of: 2) ? future : past)
        }
        return comb
    }

    /// Returns the magnitude of the second difference of a sample and the two around it, of which `outer` is the sum.
    @inline(__always)
    private static func misfit<Wide: FixedWidthInteger & SignedInteger>(
        _ outer: Wide, _ sample: some FixedWidthInteger
    ) -> Int32 {
        let difference = outer &- 2 &* Wide(truncatingIfNeeded: sample)
        return Int32(truncatingIfNeeded: max(difference, 0 &- difference))
    }
}
