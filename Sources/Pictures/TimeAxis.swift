internal import MediaBase

/// A time axis, which determines the marked times and their labels.
///
/// Spacings are whole milliseconds, so that labels are exact; times become pixels only at the end.
package struct TimeAxis: Sendable, Hashable {
    /// A marked time.
    package struct Tick: Sendable, Hashable {
        /// The pixel column, counted from the left edge of the picture.
        package var x: Int
        /// The time in milliseconds.
        package var milliseconds: Int64
        /// The label; `nil` for a minor tick between labels.
        package var label: String?
    }

    /// The time at the left edge, in seconds.
    package var startSeconds: Double
    /// The duration covered by one pixel column, in seconds.
    package var secondsPerPixel: Double

    /// Creates an axis, which has no ticks unless both numbers are finite and `secondsPerPixel` is above 0.
    package init(startSeconds: Double = 0, secondsPerPixel: Double) {
        self.startSeconds = startSeconds
        self.secondsPerPixel = secondsPerPixel
    }

    /// The spacings between labels in milliseconds, each with the number of parts into which minor ticks divide it.
    private static let spacings: [(milliseconds: Int64, parts: Int64)] = [
        (1, 1), (2, 2), (5, 5), (10, 5), (20, 4), (50, 5), (100, 5), (200, 4), (500, 5),
        (1000, 5), (2000, 4), (5000, 5), (10_000, 5), (15_000, 3), (30_000, 6),
        (60_000, 6), (120_000, 4), (300_000, 5), (600_000, 5), (900_000, 3), (1_800_000, 6),
        (3_600_000, 6), (7_200_000, 4), (14_400_000, 4), (21_600_000, 6), (43_200_000, 6), (86_400_000, 4),
    ]

    /// Returns the ticks for a picture of `width` columns, from left to right.
    ///
    /// The spacing is the smallest at which neighbouring labels stay `gap` pixels apart.
    ///
    /// - Parameters:
    ///   - width: The width of the picture in pixels.
    ///   - gap: The minimum number of pixels between two labels.
    ///   - labelWidth: Returns the width of a label in pixels.
    package func ticks(width: Int, gap: Int, labelWidth: (String) -> Int) -> [Tick] {
        let end = startSeconds + secondsPerPixel * Double(width)
        // Larger values lose millisecond precision, and the sums below could overflow.
        let limit = 1e12
        guard width > 0, secondsPerPixel > 0, abs(startSeconds) < limit, abs(end) < limit else { return [] }
        let last = Int64((end * 1000).rounded(.up))
        let first = Int64((startSeconds * 1000).rounded(.down))
        for spacing in Self.spacings {
            let pixels = Double(spacing.milliseconds) / 1000 / secondsPerPixel
            // The first or the last label is the widest; a minus sign can make it the first.
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
        // Minor ticks less than four pixels apart would look like a grey bar.
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

    /// Returns a time as `M:SS` or `H:MM:SS`, with the decimals that the spacing requires; as `S.s` if all times are
    /// short.
    ///
    /// - Parameters:
    ///   - milliseconds: The time.
    ///   - spacing: The spacing between labels in milliseconds, which determines the number of decimals.
    ///   - end: The last time of the axis in milliseconds, which selects one of the three forms.
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
