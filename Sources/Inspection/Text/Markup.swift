/// Escapes text for XML and HTML.
package enum Markup {
    /// Replaces characters that are special in markup, including quotation marks, with references.
    ///
    /// Control characters, most of which XML 1.0 does not allow, and those that change the text direction are escaped
    /// as in C.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in VisibleText.line(text).unicodeScalars {
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
}
