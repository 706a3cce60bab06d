internal import Inspection
internal import MediaBase

extension Check {
    static let damage = Check(
        "damage",
        "packets that are damaged or cannot be decoded, plus one if the file is truncated, plus each track from which nothing is decoded",
        of: .file, standard: ValueTest(maximum: 0), example: Example(passes: "av.mp4", fails: "damaged.mp4"),
        verdict: Verdict { check, measurements, test in
            let (damage, empty) = (measurements.damage, measurements.emptyTracks ?? [])
            let count = damage.packets + (damage.truncated ? 1 : 0) + (damage.skippedBytes > 0 ? 1 : 0) + empty.count
            guard !test.holds(for: .number(Double(count))) else { return .passed }
            var violations: [Violation] = []
            if damage.skippedBytes > 0 {
                violations.append(check.violation(DamageSummary.text(ofSkipped: damage.skippedBytes), test))
            }
            if damage.packets > 0 {
                let packets = damage.packets == 1 ? "1 packet in all" : "\(damage.packets) packets in all"
                violations += damage.ranges.map {
                    check.violation(
                        packets, test, track: $0.trackIndex, range: .init(start: $0.start, end: $0.start + $0.duration))
                }
                if damage.ranges.isEmpty { violations.append(check.violation(packets, test)) }
            }
            if damage.truncated {
                let last = measurements.tracks.compactMap { $0.sound?.duration ?? $0.pictures?.end }.max()
                violations.append(
                    check.violation(
                        "a file that breaks off before its end", test, range: last.map { .init(start: $0, end: $0) }))
            }
            violations += empty.map {
                Violation(subject: "what can be decoded", measured: "nothing", wanted: "anything", trackIndex: $0)
            }
            return .failed(violations.isEmpty ? [check.violation("none", test)] : violations)
        })
}
