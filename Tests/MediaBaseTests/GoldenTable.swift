import Foundation
import MediaBase
import TestSupport
import Testing

/// The rows of a table in golden/time, without its header, cut into cells.
func goldenTable(_ name: String, columns: Int) throws -> [[String]] {
    let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(contentsOf: root.appending(path: "golden/time/\(name)"), encoding: .utf8)
    let rows = text.split(separator: "\n").dropFirst().map { line in
        line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
    try #require(!rows.isEmpty && rows.allSatisfy { $0.count == columns }, "golden/time/\(name) has another shape")
    return rows
}

/// The Double with these 16 hexadecimal digits.
func double(bits: String) throws -> Double {
    Double(bitPattern: try #require(UInt64(bits, radix: 16)))
}

/// The exact text and the flag of a time, where `==` compares only the moment.
func shape(_ time: MediaTime) -> String {
    "\(time) \(time.hasBeenRounded ? 1 : 0)"
}

/// A short name for a time in tests.
func time(_ value: Int64, _ timescale: Int32) -> MediaTime { MediaTime(value: value, timescale: timescale) }

/// The four kinds that are not numbers, with two numbers, in the order of CMTime.h.
let timesInOrder: [MediaTime] = [
    .negativeInfinity, time(-1, 3), time(1, 3), .indefinite, .positiveInfinity, .invalid,
]

extension SeededGenerator {
    /// A time of any size, often with a small value so that equal times occur; sometimes not a number.
    mutating func time() -> MediaTime {
        switch Int.random(in: 0..<10, using: &self) {
        case 0: timesInOrder.randomElement(using: &self) ?? .invalid
        case 1...5: MediaTime(value: .random(in: -4...4, using: &self), timescale: .random(in: 1...6, using: &self))
        default:
            MediaTime(
                value: .random(in: .min ... .max, using: &self), timescale: .random(in: 1 ... .max, using: &self))
        }
    }
}
