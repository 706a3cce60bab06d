internal import AssetKit
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// A template for the names of image files, with placeholders for the parts that differ.
///
/// A placeholder is written in braces, as in `{stem}-{index}.png`; `{{` and `}}` are literal braces. Names are bytes,
/// so that a stem that is not UTF-8 is kept unchanged.
package struct ThumbsNameTemplate: Sendable, Hashable {
    /// A placeholder.
    package enum Field: String, Sendable, CaseIterable {
        /// The input's file name without its last extension; `stdin` for standard input.
        case stem
        /// The number of the image or sheet, from 1, with at least three digits.
        case index
        /// The requested time in seconds with three decimals, as in `12.500`.
        case seconds
        /// The requested time as `HH-MM-SS-FF`, because many systems allow no colon in a name.
        case timecode
        /// The number of the frame on screen at the requested time, from 0 in presentation order, with at least six
        /// digits.
        case frame
        /// The image's width in pixels.
        case width
        /// The image's height in pixels.
        case height
        /// The format's usual extension, without a dot.
        case ext
    }

    fileprivate enum Piece: Sendable, Hashable {
        case literal([UInt8])
        case field(Field)
    }

    private var pieces: [Piece]

    /// Parses a template.
    ///
    /// - Throws: `invalidArgument` for an unknown placeholder and for an unbalanced brace.
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

    /// The name with its placeholders in braces, and literal braces as they are.
    package var pattern: FilePath {
        FilePath(
            bytes: pieces.flatMap { piece in
                switch piece {
                case .literal(let bytes): bytes
                case .field(let field): Array("{\(field.rawValue)}".utf8)
                }
            })
    }

    /// Creates a name without placeholders, in which braces are literal.
    package init(literal name: [UInt8]) { pieces = [.literal(name)] }

    /// The default names of files in a folder.
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

    /// Creates a template with the default names in a folder, whose path is taken literally.
    ///
    /// - Parameters:
    ///   - folder: The folder's path including the final slash; empty for the current folder.
    ///   - names: The kind of files.
    package init(inFolder folder: [UInt8], names: Usual = .images) {
        pieces = (folder.isEmpty ? [] : [.literal(folder)]) + names.pieces
    }

    /// Returns the default names in the folder that this template names.
    package func asFolder(of names: Usual = .images) -> ThumbsNameTemplate {
        var copy = self
        copy.pieces += [.literal([UInt8(ascii: "/")])] + names.pieces
        return copy
    }

    /// Returns the same names in a folder.
    ///
    /// - Parameter folder: The folder's path including the final slash.
    func inFolder(_ folder: [UInt8]) -> ThumbsNameTemplate {
        var copy = self
        copy.pieces.insert(.literal(folder), at: 0)
        return copy
    }

    /// All placeholders, for messages and help.
    package static let placeholders = Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")

    /// Returns whether the template contains a placeholder.
    package func contains(_ field: Field) -> Bool { pieces.contains(.field(field)) }

    /// Indicates whether the template contains any placeholder.
    package var hasFields: Bool { pieces.contains { if case .field = $0 { true } else { false } } }

    /// Returns the name with the given stem; every other placeholder is replaced with its own name.
    package func name(withStem stem: [UInt8]) -> [UInt8] { name { $0 == .stem ? stem : Array($0.rawValue.utf8) } }

    /// Returns the name with the placeholders' values; placeholders without a value stay as they are.
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

/// The values of the placeholders in the names for one file.
struct ThumbsNames {
    /// The value of `{stem}`.
    let stem: [UInt8]
    /// The format of images and sheets.
    let format: ImageFileFormat
    /// The requested times, in their order.
    let times: [Result<MediaTime, MediaError>]
    /// The number of the frame at each time; empty if no name needs it.
    let frames: [Int64?]
    /// The track's properties, from which timecodes are computed.
    let context: TimeExpression.Context

    /// The number of requested times.
    var count: Int { times.count }

    /// Returns the name of the image for one time; without `size`, `{width}` and `{height}` stay placeholders.
    func image(_ template: ThumbsNameTemplate, place: Int, size: Dimensions?) -> [UInt8] {
        let time = (try? times[place].get()) ?? .invalid
        return template.name { field in
            switch field {
            case .seconds: Array(Self.seconds(time).utf8)
            case .timecode: Array(timecode(time).utf8)
            case .frame:
                (frames.indices.contains(place) ? frames[place] : nil).map { Array(padded($0, to: 6).utf8) }
            default: common(field, index: place, of: times.count, size: size)
            }
        }
    }

    /// Returns the name of a sheet, by its number from 0, or of an index; placeholders for a single time are not
    /// replaced.
    func sheet(_ template: ThumbsNameTemplate, number: Int, size: Dimensions?) -> [UInt8] {
        template.name { common($0, index: number, of: 1, size: size) }
    }

    private func common(
        _ field: ThumbsNameTemplate.Field, index: Int, of count: Int, size: Dimensions?
    ) -> [UInt8]? {
        switch field {
        case .stem: stem
        case .index: Array(padded(index + 1, to: max(3, "\(count)".utf8.count)).utf8)
        case .width: size.map { Array("\($0.width)".utf8) }
        case .height: size.map { Array("\($0.height)".utf8) }
        case .ext: Array(format.fileExtension.utf8)
        case .seconds, .timecode, .frame: nil
        }
    }

    private static func seconds(_ time: MediaTime) -> String {
        let thousandths = time.converted(toTimescale: 1000)
        guard thousandths.isNumeric else { return time.description }
        let digits = padded(thousandths.value.magnitude, to: 4)
        return (thousandths.value < 0 ? "-" : "") + digits.dropLast(3) + "." + digits.suffix(3)
    }

    private func timecode(_ time: MediaTime) -> String {
        var text = time.clockText()
        if let rate = context.startTimecode?.rate ?? context.frameRate.flatMap({ try? Timecode.Rate(frameRate: $0) }) {
            // The time of a frame may have been rounded down to a tick; half a tick later is still the same frame.
            let slack = context.timestampScale.map {
                MediaTime(value: 1, timescale: $0).multiplied(by: 1, dividedBy: 2)
            }
            let elapsed = time - context.timecodeOrigin + (context.startTimecode?.time ?? .zero) + (slack ?? .zero)
            if let timecode = try? Timecode(elapsed: elapsed, rate: rate) { text = timecode.description }
        }
        return String(text.map { $0 == ":" || $0 == ";" ? "-" : $0 })
    }
}
