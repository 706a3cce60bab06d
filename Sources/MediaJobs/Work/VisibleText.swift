/// Makes text that somebody else wrote safe to print: names of files, metadata, what a policy says.
///
/// A terminal obeys control characters, a line break begins a line that looks like one of ours, and a bidirectional
/// control shows what follows in another order than it is written in (Unicode Technical Report 36, 3.4). All of them are
/// escaped as in C; everything else stays as it is.
package enum VisibleText {
    /// Escapes what is not to be printed, so that the text is one line.
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

    /// Reports whether a character is a control character, ends a line, or changes the direction of the text after it.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x2028, 0x2029: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Makes one cell of comma-separated values (RFC 4180) that a spreadsheet shows and does not calculate.
    ///
    /// What begins with `=`, `+`, `-`, `@`, a tab or a return would be a formula (OWASP, CSV Injection): an apostrophe
    /// before it makes it text. Numbers, and times such as `-1/25`, stay as they are.
    package static func cell(_ text: String) -> String {
        var cell = line(text)
        // Escaped tabs and returns begin with a backslash, which begins no formula.
        if let first = cell.first, "=+-@".contains(first), cell.count > 1, !isNumber(cell) { cell = "'" + cell }
        guard cell.contains(where: { ",\"".contains($0) }) else { return cell }
        return "\"" + cell.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    /// Reports whether text is a number or a fraction, and a unit at most: no spreadsheet can make more of it.
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
