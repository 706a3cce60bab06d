package import MediaBase
internal import SystemCalls
package import SystemPackage

/// Makes foreign text, such as file names, metadata and policy messages, safe to print.
///
/// A terminal obeys control characters, a line break starts a line that may look like our own output, and a
/// bidirectional control changes the displayed order of the following text (Unicode Technical Report 36, 3.4). All of
/// them are escaped as in C; everything else stays unchanged.
package enum VisibleText {
    /// Escapes unsafe characters, so that the text is one line.
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var line = ""
        for scalar in text.unicodeScalars {
            guard isUnsafe(scalar) else {
                line.unicodeScalars.append(scalar)
                continue
            }
            switch scalar {
            case "\n": line += #"\n"#
            case "\r": line += #"\r"#
            case "\t": line += #"\t"#
            default:
                let digits = String(scalar.value, radix: 16)
                let (mark, width) = scalar.value < 0x100 ? (#"\x"#, 2) : (#"\u"#, 4)
                line += mark + String(repeating: "0", count: max(0, width - digits.count)) + digits
            }
        }
        return line
    }

    /// Returns whether a character is a control character, ends a line, or changes the direction of the following text.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x2028, 0x2029: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Returns text for XML and HTML on one line, with characters that are special there as references.
    ///
    /// Control characters, most of which XML 1.0 does not allow, and those that change the text direction are escaped
    /// as in C.
    package static func markup(_ text: String) -> String {
        var result = ""
        for scalar in line(text).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns a cell of comma-separated values (RFC 4180) that a spreadsheet displays but does not evaluate.
    ///
    /// A spreadsheet evaluates text that starts with `=`, `+`, `-`, `@`, a tab or a carriage return as a formula
    /// (OWASP, CSV Injection); a preceding apostrophe prevents this. Numbers, and times such as `-1/25`, stay
    /// unchanged.
    package static func cell(_ text: String) -> String {
        var cell = line(text)
        // Tabs and returns are already escaped with a backslash, which starts no formula.
        if let first = cell.first, "=+-@".contains(first), cell.count > 1, !isNumber(cell) { cell = "'" + cell }
        guard cell.contains(where: { ",\"".contains($0) }) else { return cell }
        return "\"" + cell.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    /// Returns whether text is a number or a fraction, optionally with a unit, which no spreadsheet can misinterpret.
    private static func isNumber(_ text: String) -> Bool {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let number = words.first, words.count <= 2 else { return false }
        if words.count == 2 { guard words[1].allSatisfy(\.isLetter) else { return false } }
        return number.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
            part.contains(where: \.isASCIIDigit) && Double(part) != nil
        }
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

/// Formats quantities for people, in the same way in every command.
package enum QuantityText {
    /// Returns a number of bytes with a decimal unit (powers of 1000), to one decimal place.
    package static func bytes(_ bytes: Int64) -> String {
        scaled(bytes, units: ["bytes", "kB", "MB", "GB", "TB"])
    }

    /// Returns a bit rate with a unit, to one decimal place.
    package static func bitRate(_ rate: Int64) -> String {
        scaled(rate, units: ["b/s", "kb/s", "Mb/s", "Gb/s"])
    }

    /// Returns the processed seconds of media per second of time as text; empty if the value is meaningless.
    package static func speed(_ seconds: Double, in time: Duration) -> String {
        let elapsed = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let factor = seconds / elapsed
        guard factor.isFinite, factor > 0, factor < 1e9 else { return "" }
        return factor < 10 ? "\(Double(Int(factor * 10)) / 10)x" : "\(Int(factor))x"
    }

    private static func scaled(_ number: Int64, units: [String]) -> String {
        var tenths = number.multipliedReportingOverflow(by: 10).partialValue
        guard number >= 1000, number <= .max / 10 else { return "\(number) \(units.first ?? "")" }
        var unit = 0
        while tenths >= 10_000, unit < units.count - 1 {
            tenths = (tenths + 500) / 1000
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// Returns a rational as a decimal number with at most `places` decimal places, without trailing zeros.
    package static func decimal(_ number: Rational, places: Int = 3) -> String {
        let scale = (0..<places).reduce(Int64(1)) { product, _ in product * 10 }
        guard let scaled = number.multiplied(by: Rational(scale))?.rounded() else { return "\(number)" }
        let (whole, rest) = scaled.magnitude.quotientAndRemainder(dividingBy: scale.magnitude)
        var digits = padded(rest, to: places)
        while digits.last == "0" { digits.removeLast() }
        return (scaled < 0 ? "-" : "") + String(whole) + (digits.isEmpty ? "" : "." + digits)
    }
}

extension FilePath {
    /// The name of an input without folder and extension, byte for byte; `stdin` for standard input.
    ///
    /// A leading dot marks a hidden file, not an extension.
    package var inputStem: [UInt8] {
        if self == "-" { return Array("stdin".utf8) }
        let name = lastComponent?.bytes ?? []
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return name }
        return Array(name[..<dot])
    }

    /// Returns whether a name made from this input's stem leads to another folder than one made from an ordinary stem.
    ///
    /// For example, the stem of `...mov` is `..`.
    package func isLedAway(_ name: (FilePath) -> FilePath) -> Bool {
        func steps(_ path: FilePath) -> Int { path.components.count { $0.kind != .regular } }
        return steps(name(self)) != steps(name("stem.mov"))
    }

    /// The absolute path, normalized lexically; links are not resolved.
    package var absolute: FilePath {
        if isAbsolute { return lexicallyNormalized() }
        let current = (try? targetOfSymbolicLink("/proc/self/cwd")) ?? "/"
        return current.pushing(self).lexicallyNormalized()
    }

    /// Returns the path with every `mark` replaced, byte for byte.
    package func replacing(_ mark: String, with text: [UInt8]) -> FilePath {
        let mark = Array(mark.utf8)
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.first {
            if rest.starts(with: mark) {
                result += text
                rest = rest.dropFirst(mark.count)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return FilePath(bytes: result)
    }
}

extension FilePath {
    /// The path's bytes in base64 if they are not UTF-8, so that programs can read them from JSON; otherwise `nil`.
    package var pathBytes: String? {
        String(validating: self) == nil ? bytes.base64 : nil
    }
}
