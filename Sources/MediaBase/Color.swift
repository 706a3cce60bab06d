/// An sRGB colour with 8 bits per channel and straight (not premultiplied) alpha.
public struct Color: Sendable, Hashable {
    /// The red component, 0…255.
    public var red: UInt8
    /// The green component, 0…255.
    public var green: UInt8
    /// The blue component, 0…255.
    public var blue: UInt8
    /// The opacity, from 0 (transparent) to 255 (opaque).
    public var alpha: UInt8

    /// Creates a colour, opaque by default.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Opaque white.
    public static let white = Color(red: 255, green: 255, blue: 255)
    /// Opaque black.
    public static let black = Color(red: 0, green: 0, blue: 0)
    /// Fully transparent black.
    public static let transparent = Color(red: 0, green: 0, blue: 0, alpha: 0)

    /// The named colours: CSS's sixteen basic ones, orange and transparent.
    private static let named: [String: Color] = [
        "white": .white, "black": .black, "transparent": .transparent,
        "red": Color(red: 255, green: 0, blue: 0), "lime": Color(red: 0, green: 255, blue: 0),
        "blue": Color(red: 0, green: 0, blue: 255), "yellow": Color(red: 255, green: 255, blue: 0),
        "cyan": Color(red: 0, green: 255, blue: 255), "aqua": Color(red: 0, green: 255, blue: 255),
        "magenta": Color(red: 255, green: 0, blue: 255), "fuchsia": Color(red: 255, green: 0, blue: 255),
        "gray": Color(red: 128, green: 128, blue: 128), "grey": Color(red: 128, green: 128, blue: 128),
        "silver": Color(red: 192, green: 192, blue: 192), "maroon": Color(red: 128, green: 0, blue: 0),
        "green": Color(red: 0, green: 128, blue: 0), "navy": Color(red: 0, green: 0, blue: 128),
        "olive": Color(red: 128, green: 128, blue: 0), "purple": Color(red: 128, green: 0, blue: 128),
        "teal": Color(red: 0, green: 128, blue: 128), "orange": Color(red: 255, green: 165, blue: 0),
    ]

    /// Parses `#rgb`, `#rrggbb` or `#rrggbbaa` (with or without `#`), or a CSS name, ignoring case.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` listing the accepted forms.
    public init(_ text: String) throws(MediaError) {
        if let named = Self.named[text.lowercased()] {
            self = named
            return
        }
        let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
        let values = digits.unicodeScalars.compactMap { $0.isASCII ? Character($0).hexDigitValue : nil }
        let isComplete = values.count == digits.unicodeScalars.count
        switch values.count {
        case 3 where isComplete:
            self.init(
                red: Self.byte(values[0], values[0]), green: Self.byte(values[1], values[1]),
                blue: Self.byte(values[2], values[2]))
        case 6 where isComplete, 8 where isComplete:
            self.init(
                red: Self.byte(values[0], values[1]), green: Self.byte(values[2], values[3]),
                blue: Self.byte(values[4], values[5]),
                alpha: values.count == 8 ? Self.byte(values[6], values[7]) : 255)
        default:
            throw MediaError(
                .invalidArgument,
                "'\(text.prefix(40))' is no colour: write #rgb, #rrggbb, #rrggbbaa or a name such as white or red")
        }
    }

    private static func byte(_ high: Int, _ low: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: high << 4 | low)
    }

    /// Returns the colour with its alpha multiplied by `opacity`, which is clamped to 0…1; NaN counts as 0.
    public func withOpacity(_ opacity: Double) -> Color {
        var copy = self
        let factor = opacity > 0 ? min(opacity, 1) : 0
        copy.alpha = UInt8((Double(alpha) * factor).rounded())
        return copy
    }
}

extension Color: CustomStringConvertible {
    /// The text `#rrggbb`, or `#rrggbbaa` if the colour is not opaque.
    public var description: String {
        let bytes = alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]
        return "#" + bytes.hexadecimal
    }
}
