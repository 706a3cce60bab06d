package import MediaBase

/// The names of image files, with placeholders for what differs.
///
/// A placeholder stands in braces, as in `{stem}-{index}.png`; `{{` and `}}` stand for braces themselves. Names are
/// bytes, so that a stem which is not UTF-8 comes through unchanged.
package struct ThumbsNameTemplate: Sendable, Hashable {
    /// What a placeholder stands for.
    package enum Field: String, Sendable, CaseIterable {
        /// The input's file name without its last extension; `stdin` for standard input.
        case stem
        /// The image's, or the sheet's, number from 1, in at least three digits.
        case index
        /// The time asked for in seconds with three decimals, as in `12.500`.
        case seconds
        /// The time asked for as `HH-MM-SS-FF`, since many systems allow no colon in a name.
        case timecode
        /// The number of the frame on screen at the time asked for, from 0 in presentation order, in at least six digits.
        case frame
        /// The image's width in pixels.
        case width
        /// The image's height in pixels.
        case height
        /// The format's usual extension, without a point.
        case ext
    }

    fileprivate enum Piece: Sendable, Hashable {
        case literal([UInt8])
        case field(Field)
    }

    private var pieces: [Piece]

    /// Reads a template.
    ///
    /// - Throws: `invalidArgument` for an unknown placeholder and for a brace without its partner.
    package init(parsing bytes: [UInt8]) throws(MediaError) {
        let (opening, closing) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
        pieces = []
        var literal: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == opening || byte == closing else {
                literal.append(byte)
                continue
            }
            if rest.first == byte {
                literal.append(byte)
                rest = rest.dropFirst()
                continue
            }
            guard byte == opening, let end = rest.firstIndex(of: closing) else {
                throw MediaError(
                    .invalidArgument, "a brace in the output's name has no partner; write {{ or }} for one")
            }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            guard let field = Field(rawValue: name) else {
                throw MediaError(
                    .invalidArgument, "there is no placeholder {\(name)}; there are \(Self.placeholders)")
            }
            if !literal.isEmpty { pieces.append(.literal(literal)) }
            literal = []
            pieces.append(.field(field))
            rest = rest[(end + 1)...]
        }
        if !literal.isEmpty { pieces.append(.literal(literal)) }
    }

    /// A name without placeholders, in which braces are braces.
    package init(literal name: [UInt8]) { pieces = [.literal(name)] }

    /// What files in a folder are called where nothing else is said.
    package enum Usual: Sendable, Hashable {
        /// `{stem}-{index}.{ext}`
        case images
        /// `{stem}-sprite-{index}.{ext}`
        case sprites
        /// `{stem}-contact-{index}.{ext}`
        case contactSheets
        /// `{stem}.vtt`
        case index

        fileprivate var pieces: [Piece] {
            let kind =
                switch self {
                case .images: "-"
                case .sprites: "-sprite-"
                case .contactSheets: "-contact-"
                case .index: ".vtt"
                }
            let head: [Piece] = [.field(.stem), .literal(Array(kind.utf8))]
            return self == .index ? head : head + [.field(.index), .literal([UInt8(ascii: ".")]), .field(.ext)]
        }
    }

    /// The usual names in a folder, which is taken literally.
    ///
    /// - Parameters:
    ///   - folder: The folder with the slash that parts it from the name; empty for the current one.
    ///   - names: What the files are.
    package init(inFolder folder: [UInt8], names: Usual = .images) {
        pieces = (folder.isEmpty ? [] : [.literal(folder)]) + names.pieces
    }

    /// The usual names in a folder whose own name this template is.
    package func asFolder(of names: Usual = .images) -> ThumbsNameTemplate {
        var copy = self
        copy.pieces += [.literal([UInt8(ascii: "/")])] + names.pieces
        return copy
    }

    /// All placeholders, for messages and help.
    package static let placeholders = Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")

    /// Whether a placeholder is in it.
    package func contains(_ field: Field) -> Bool { pieces.contains(.field(field)) }

    /// Whether any placeholder is in it.
    package var hasFields: Bool { pieces.contains { if case .field = $0 { true } else { false } } }

    /// The name with a stem, and something for every other placeholder.
    package func name(withStem stem: [UInt8]) -> [UInt8] { name { $0 == .stem ? stem : Array($0.rawValue.utf8) } }

    /// The name with a value for every placeholder; those for which there is none yet stay as they are.
    func name(_ value: (Field) -> [UInt8]?) -> [UInt8] {
        var name: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .literal(let bytes): name += bytes
            case .field(let field): name += value(field) ?? Array("{\(field.rawValue)}".utf8)
            }
        }
        return name
    }
}
