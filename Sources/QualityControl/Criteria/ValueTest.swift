internal import Glibc
internal import MediaBase

/// The criteria for a value; all that are set must be met.
package struct ValueTest: Sendable {
    /// The required value.
    package var equals: PolicyValue?
    /// The smallest allowed value.
    package var minimum: Double?
    /// The largest allowed value.
    package var maximum: Double?
    /// The allowed values.
    package var oneOf: [PolicyValue]?
    /// A regular expression that must match somewhere in the value's text.
    package var matches: String?
    /// True to require a value, false to require that there is none; an empty list is no value.
    package var exists: Bool?
    /// True if values are frame rates: 29.97 then equals 30000/1001, as in `export`.
    package var isAboutRate = false

    /// Makes a test; by default, one without criteria.
    package init(equals: PolicyValue? = nil, minimum: Double? = nil, maximum: Double? = nil) {
        self.equals = equals
        self.minimum = minimum
        self.maximum = maximum
    }

    /// True if the test has no criteria.
    package var isEmpty: Bool { !comparesValue && exists == nil }

    /// Returns whether a place found by a path meets the test; a missing value meets no comparison.
    func holds(for found: FieldPath.Found) -> Bool {
        if let exists, exists != found.isThere { return false }
        if exists == false { return true }
        guard let value = found.value else { return !comparesValue }
        return holds(for: value)
    }

    /// True if the test has criteria for the value itself.
    private var comparesValue: Bool {
        equals != nil || minimum != nil || maximum != nil || oneOf != nil || matches != nil
    }

    /// Returns whether a value meets the test.
    func holds(for value: PolicyValue) -> Bool {
        if exists == false { return false }
        if let equals, !isSame(value, equals) { return false }
        if let oneOf, !oneOf.contains(where: { isSame(value, $0) }) { return false }
        if let minimum, !(value.number.map { $0 >= minimum } ?? false), !isSame(value, .number(minimum)) {
            return false
        }
        if let maximum, !(value.number.map { $0 <= maximum } ?? false), !isSame(value, .number(maximum)) {
            return false
        }
        // The expression was validated when the policy was read.
        if let matches, (try? Regex(matches).firstMatch(in: value.text)) == nil { return false }
        return true
    }

    private func isSame(_ one: PolicyValue, _ other: PolicyValue) -> Bool {
        if one == other { return true }
        guard isAboutRate, let rate = one.number.flatMap({ Rational(rate: $0) }) else { return false }
        return rate == other.number.flatMap { Rational(rate: $0) }
    }

    /// The criteria, in words.
    var text: String {
        var parts: [String] = []
        if let equals { parts.append(equals.text) }
        if let oneOf { parts.append("one of " + oneOf.map(\.text).joined(separator: ", ")) }
        if let minimum { parts.append("at least \(PolicyValue.number(minimum).text)") }
        if let maximum { parts.append("at most \(PolicyValue.number(maximum).text)") }
        if let matches { parts.append("/\(matches)/") }
        if let exists { parts.append(exists ? "any value" : "no value") }
        return parts.joined(separator: " and ")
    }
}

/// A value in a policy or a report.
package enum PolicyValue: Sendable, Equatable {
    case number(Double)
    /// An exact fraction, with its text.
    case fraction(Double, String)
    case text(String)
    case bool(Bool)

    /// The numeric value, or `nil` if it is not a number.
    package var number: Double? {
        switch self {
        case .number(let number), .fraction(let number, _): number
        case .text, .bool: nil
        }
    }

    /// The value as readable text.
    package var text: String {
        switch self {
        case .number(let number):
            number.magnitude < 1e15 && number == number.rounded() ? "\(Int64(number))" : "\(number)"
        case .fraction(_, let text), .text(let text): text
        case .bool(let bool): bool ? "true" : "false"
        }
    }

    /// Compares two values; numbers and fractions are equal if they agree within a billionth.
    package static func == (left: PolicyValue, right: PolicyValue) -> Bool {
        if let one = left.number, let other = right.number {
            // The loudness of silence is -∞, to which no distance is small.
            guard one.isFinite, other.isFinite else { return one == other }
            return abs(one - other) <= 1e-9 * max(1, one.magnitude)
        }
        switch (left, right) {
        case (.text(let one), .text(let other)): return one == other
        case (.bool(let one), .bool(let other)): return one == other
        default: return false
        }
    }
}

extension PolicyValue {
    /// Reads an unquoted value: a number, a fraction such as 30000/1001, a Boolean, or else text.
    init(scalar text: String) {
        let sides = text.split(separator: "/", omittingEmptySubsequences: false)
        if text == "true" || text == "false" {
            self = .bool(text == "true")
        } else if let number = Double(text), number.isFinite {
            self = .number(number)
        } else if sides.count == 2, let top = Int64(sides[0]), let bottom = Int64(sides[1]), bottom > 0 {
            self = .fraction(Double(top) / Double(bottom), text)
        } else {
            self = .text(text)
        }
    }
}

/// The threshold and the minimum duration of a check that finds runs.
package struct RunParameters: Sendable, Hashable {
    /// The threshold, in the unit of the check's definition.
    package var threshold: Double
    /// The minimum duration in seconds.
    package var minimumSeconds: Double

    /// Makes parameters.
    package init(threshold: Double, minimumSeconds: Double) {
        self.threshold = threshold
        self.minimumSeconds = minimumSeconds
    }

    /// Returns the minimum duration in units of a clock, rounded up and at least one.
    func minimum(unitsPerSecond rate: Double) -> Int64 {
        Int64(min(max((minimumSeconds * rate - 1e-6).rounded(.up), 1), 0x1p62))
    }

    /// The threshold in dBFS, converted to a fraction of full scale.
    var amplitude: Double { pow(10, threshold / 20) }
}

extension Double {
    /// Returns the number with a fixed number of decimal places, at most 9.
    package func text(decimals digits: Int) -> String {
        guard isFinite, magnitude < 1e9 else { return "\(self)" }
        var scale: Int64 = 1
        for _ in 0..<min(max(digits, 0), 9) { scale *= 10 }
        let rounded = Int64((magnitude * Double(scale)).rounded())
        let sign = self < 0 && rounded > 0 ? "-" : ""
        guard scale > 1 else { return "\(sign)\(rounded)" }
        return "\(sign)\(rounded / scale)." + padded(rounded % scale, to: digits)
    }
}
