internal import MediaAnalysis
internal import MediaBase

extension Check {
    static let correlation = Check(
        "correlation",
        "the minimum Pearson correlation of channels 1 and 2, 3 and 4 and so on, over the whole and over 3 s windows every second in which both are above −60 dBFS; near −1 one channel is inverted",
        of: .audio, example: Example("min: -0.5", passes: "qc-tone.wav", fails: "qc-inverted.wav"),
        verdict: .tracks(places: { track, test in track.sound?.windows(failing: test) ?? [] }) { track in
            // An inverted part may not show in the correlation of the whole.
            track.sound?.pairs.flatMap { [$0.correlation, $0.lowest?.correlation].compactMap(\.self) }.min()
                .map { .number($0, 3) }
        })
}

extension Measurements.Sound {
    /// Returns the stretches in which the correlation of a pair fails a test, joining windows that overlap or touch.
    fileprivate func windows(failing test: ValueTest) -> [MeasuredValue.Place] {
        var places: [MeasuredValue.Place] = []
        for pair in pairs {
            let name =
                pairs.count > 1
                ? " in channels \(pair.channels.map { "\($0 + 1)" }.joined(separator: " and "))" : ""
            var run: (first: Int, last: Int, least: Float)?
            func close() {
                guard let (first, last, least) = run, places.count < Outcome.maximumViolations else { return }
                func time(_ second: Int) -> MediaTime {
                    MediaTime(value: Int64(second) * Int64(sampleRate), timescale: Int32(clamping: sampleRate))
                }
                places.append(
                    .init(
                        range: .init(start: time(first), end: time(last + CorrelationWindows.length)),
                        text: Double(least).text(decimals: 3) + name))
                run = nil
            }
            for (index, correlation) in pair.windows.enumerated() where !correlation.isNaN {
                guard !test.holds(for: .number(Double(correlation))) else { continue }
                if let (first, last, least) = run, index <= last + CorrelationWindows.length {
                    run = (first, index, min(least, correlation))
                } else {
                    close()
                    run = (index, index, correlation)
                }
            }
            close()
        }
        return places
    }
}
