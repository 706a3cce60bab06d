internal import MediaBase

/// Which times a time axis marks and how it writes them.
///
/// Spacings are whole milliseconds, so that labels are exact; seconds become pixels only at the end.
package struct TimeAxis: Sendable, Hashable {
    /// A marked time.
    package struct Tick: Sendable, Hashable {
        /// The pixel column, counted from the picture's left.
        package var x: Int
        /// The time in milliseconds.
        package var milliseconds: Int64
        /// The label; `nil` for a minor tick between labels.
        package var label: String?
    }

    /// The time at the left edge, in seconds.
    package var startSeconds: Double
    /// The time that one pixel column covers, in seconds.
    package var secondsPerPixel: Double

    /// Makes an axis; it has no ticks unless both numbers are finite and `secondsPerPixel` is above 0.
    package init(startSeconds: Double = 0, secondsPerPixel: Double) {
        self.startSeconds = startSeconds
        self.secondsPerPixel = secondsPerPixel
    }

    /// The spacings between labels, in milliseconds, each with the number of parts that minor ticks divide it in.
    private static let spacings: [(milliseconds: Int64, parts: Int64)] = [
        (1, 1), (2, 2), (5, 5), (10, 5), (20, 4), (50, 5), (100, 5), (200, 4), (500, 5),
        (1000, 5), (2000, 4), (5000, 5), (10_000, 5), (15_000, 3), (30_000, 6),
        (60_000, 6), (120_000, 4), (300_000, 5), (600_000, 5), (900_000, 3), (1_800_000, 6),
        (3_600_000, 6), (7_200_000, 4), (14_400_000, 4), (21_600_000, 6), (43_200_000, 6), (86_400_000, 4),
    ]

    /// The ticks of a picture of `width` columns, from left to right.
    ///
    /// The spacing is the smallest at which neighbouring labels stay `gap` pixels apart.
    ///
    /// - Parameters:
    ///   - width: The columns of the picture.
    ///   - gap: The least number of pixels between two labels.
    ///   - labelWidth: How many pixels a label takes.
    package func ticks(width: Int, gap: Int, labelWidth: (String) -> Int) -> [Tick] {
        let end = startSeconds + secondsPerPixel * Double(width)
        // Beyond this a millisecond is no longer told apart, and the sums below could overflow.
        let limit = 1e12
        guard width > 0, secondsPerPixel > 0, abs(startSeconds) < limit, abs(end) < limit else { return [] }
        let last = Int64((end * 1000).rounded(.up))
        let first = Int64((startSeconds * 1000).rounded(.down))
        for spacing in Self.spacings {
            let pixels = Double(spacing.milliseconds) / 1000 / secondsPerPixel
            // The widest label is one of the two ends'; a minus sign makes the first the wider one.
            let widest = max(
                labelWidth(Self.label(last, spacing: spacing.milliseconds, end: last)),
                labelWidth(Self.label(first, spacing: spacing.milliseconds, end: last)))
            if pixels >= Double(widest + gap) {
                return ticks(width: width, from: first, through: last, spacing: spacing)
            }
        }
        return []
    }

    private func ticks(
        width: Int, from first: Int64, through last: Int64, spacing: (milliseconds: Int64, parts: Int64)
    ) -> [Tick] {
        // Minor ticks closer than four pixels would be a grey bar.
        let fine = Double(spacing.milliseconds / spacing.parts) / 1000 / secondsPerPixel
        let parts = fine >= 4 ? spacing.parts : 1
        let step = spacing.milliseconds / parts
        var time = first / step * step
        if time < first { time += step }
        var ticks: [Tick] = []
        while time <= last {
            let x = ((Double(time) / 1000 - startSeconds) / secondsPerPixel).rounded()
            if x >= 0, x < Double(width) {
                let isMajor = time % spacing.milliseconds == 0
                let label = isMajor ? Self.label(time, spacing: spacing.milliseconds, end: last) : nil
                ticks.append(Tick(x: Int(x), milliseconds: time, label: label))
            }
            time += step
        }
        return ticks
    }

    /// A time as `M:SS` or `H:MM:SS`, with as many decimals as the spacing needs; as `S.s` where all times are short.
    ///
    /// - Parameters:
    ///   - milliseconds: The time.
    ///   - spacing: The spacing between labels in milliseconds, which says how many decimals are written.
    ///   - end: The last time of the axis in milliseconds, which decides between the three forms.
    package static func label(_ milliseconds: Int64, spacing: Int64, end: Int64) -> String {
        let decimals = spacing % 1000 == 0 ? 0 : spacing % 100 == 0 ? 1 : spacing % 10 == 0 ? 2 : 3
        let sign = milliseconds < 0 ? "-" : ""
        let magnitude = milliseconds.magnitude
        let seconds = magnitude / 1000
        let fraction = decimals == 0 ? "" : "." + padded(magnitude % 1000, to: 3).prefix(decimals)
        if decimals > 0, end.magnitude < 60_000 { return "\(sign)\(seconds)\(fraction)" }
        if end < 3_600_000 { return "\(sign)\(seconds / 60):\(padded(seconds % 60, to: 2))\(fraction)" }
        return "\(sign)\(seconds / 3600):\(padded(seconds / 60 % 60, to: 2)):\(padded(seconds % 60, to: 2))\(fraction)"
    }
}
