extension Check {
    static let truePeak = Check(
        "truePeak",
        "BS.1770-5 Annex 2: the maximum of all channels, oversampled four times (twice from 96 kHz, not at all from 192 kHz)",
        unit: "dBTP", of: .audio, example: Example("max: -1", passes: "qc-tone.wav", fails: "pcm-s16-clipped.wav"),
        verdict: .audio { $0.highest(\.truePeak, at: \.truePeakRange) })
}

extension Measurements.Sound {
    /// Returns the highest level of all channels, and its place.
    func highest(
        _ level: (Measurements.Channel) -> Double?, at range: (Measurements.Channel) -> Measurements.Range?
    ) -> MeasuredValue {
        let levels = channels.map { level($0) ?? -.infinity }
        guard let highest = levels.max(), highest > -.infinity, let channel = levels.firstIndex(of: highest) else {
            return .level(nil)
        }
        var measured = MeasuredValue.level(highest)
        measured.places = [.init(range: range(channels[channel]), channel: channel)]
        return measured
    }
}
