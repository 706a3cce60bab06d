/// Text for XML and HTML.
enum QCMarkup {
    /// Text with the characters that mean something in markup, also between quotes, as references.
    ///
    /// Control characters, of which XML 1.0 has few, and what turns the direction of text are escaped as in C.
    static func escaped(_ text: String) -> String {
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
