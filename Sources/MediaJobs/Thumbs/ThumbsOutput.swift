package import AssetKit
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// The files that ``ThumbsJob`` writes, and their locations.
package struct ThumbsOutput: Sendable {
    /// Pictures that hold many images in a grid.
    package struct Sheets: Sendable, Hashable {
        /// The names of the sheet files.
        package var names: ThumbsNameTemplate
        /// The number of images in a row, 1 or more.
        package var columns: Int
        /// The number of rows of a sheet; `nil` for as many as needed to fit all images on one sheet.
        package var rows: Int?
        /// The space between and around images, in pixels.
        package var gap = 0
        /// The color between images.
        package var background = Color.black
        /// Indicates whether the file's name, size and other properties are shown above the images.
        package var hasHeader = false
        /// Indicates whether each image is stamped with its time.
        package var hasTimestamps = false

        /// Creates sheets without gaps, header and stamps: sprites.
        package init(_ names: ThumbsNameTemplate, columns: Int, rows: Int?) {
            self.names = names
            self.columns = columns
            self.rows = rows
        }
    }

    /// The destination of single images; `nil` for none.
    package var images: ThumbsDestination?
    /// The sheets that hold all images; `nil` for none.
    package var sheets: Sheets?
    /// The name of a WebVTT index of the sheets, or of the single images if there are no sheets; `nil` for none.
    package var index: ThumbsNameTemplate?
    /// The format of images and sheets.
    package var format = ImageFileFormat.png
    /// The encoding quality, 1…100; see `Bitmap.encoded(as:quality:background:)`.
    package var quality = 85
    /// The color that replaces transparency in a format without alpha.
    package var background = Color.black

    /// Creates an output of single PNG images.
    package init(images: ThumbsDestination?) { self.images = images }
}

extension ThumbsOutput {
    /// Indicates whether files refer to each other, so that each needs the others.
    var belongsTogether: Bool { sheets != nil && index != nil }

    /// Indicates whether a name contains the number of a frame.
    var needsFrameNumbers: Bool {
        if case .files(let template)? = images { template.contains(.frame) } else { false }
    }
}

/// The destination of images, sheets or an index: files, or standard output for a single one.
package enum ThumbsDestination: Sendable, Hashable {
    /// The process's standard output, for one image.
    case standardOutput
    /// Files named by a template; missing folders are created.
    case files(ThumbsNameTemplate)

    /// Returns the current folder, with the default names.
    package static func currentFolder(_ names: ThumbsNameTemplate.Usual = .images) -> ThumbsDestination {
        .files(ThumbsNameTemplate(inFolder: [], names: names))
    }

    /// Creates the destination for a path: `-`, a folder, or a template for names.
    ///
    /// A path is a folder if it exists as one, if it ends with a slash, or if it has neither a placeholder nor an
    /// extension of ``ImageFileFormat`` (for an index: `vtt`). An existing path that is neither a file nor a folder,
    /// such as a FIFO, is written directly.
    /// - Parameter names: The kind of files, which determines the default names in a folder.
    /// - Throws: `invalidArgument` for an invalid template, and for the extension of another format.
    package init(
        _ path: FilePath, endsWithSlash: Bool, names: ThumbsNameTemplate.Usual = .images
    ) throws(MediaError) {
        let bytes = path.bytes
        if bytes == Array("-".utf8), !endsWithSlash {
            self = .standardOutput
            return
        }
        switch (try? Stat(path))?.type {
        case .directory:
            let slash = UInt8(ascii: "/")
            let folder = bytes + (bytes.last == slash ? [] : [slash])
            self = .files(ThumbsNameTemplate(inFolder: folder, names: names))
            return
        case .some(let type) where type != .regular && !endsWithSlash:
            self = .files(ThumbsNameTemplate(literal: bytes))
            return
        default: break
        }
        let template = try ThumbsNameTemplate(parsing: bytes)
        let ending = Self.lowercasedExtension(of: bytes)
        let isKnown = names == .index ? ending == "vtt" : ImageFileFormat(fileExtension: ending) != nil
        if !endsWithSlash, !isKnown, Self.otherFormats.contains(ending) {
            throw MediaError(
                .invalidArgument,
                names == .index
                    ? "an index is written as WebVTT, not as .\(ending)"
                    : "images are written as PNG, JPEG or WebP, not as .\(ending)",
                path: path.string)
        }
        self = .files(endsWithSlash || !(template.hasFields || isKnown) ? template.asFolder(of: names) : template)
    }

    /// Returns the image format for a path's extension; `nil` if the extension belongs to no image format.
    package static func format(of path: FilePath) -> ImageFileFormat? {
        ImageFileFormat(fileExtension: lowercasedExtension(of: path.bytes))
    }

    private static let otherFormats: Set<String> = [
        "png", "jpg", "jpeg", "webp", "avif", "heic", "gif", "bmp", "tif", "tiff", "jxl", "svg", "pdf", "vtt", "srt",
        "xml", "json",
    ]

    private static func lowercasedExtension(of bytes: [UInt8]) -> String {
        let name = bytes.split(separator: UInt8(ascii: "/")).last ?? []
        guard let point = name.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        return String(decoding: name[(point + 1)...], as: UTF8.self).lowercased()
    }
}

/// Names and writes the single image files of one input.
struct ThumbsFiles {
    private let destination: ThumbsDestination
    private let outputs: OutputFileSet
    private let names: ThumbsNames

    /// Checks that every image has a distinct name before anything is written.
    ///
    /// - Throws: `invalidArgument` if two images would have the same name, or several go to standard output.
    init(_ destination: ThumbsDestination, outputs: OutputFileSet, names: ThumbsNames) throws(MediaError) {
        self.destination = destination
        self.outputs = outputs
        self.names = names
        try checkNames()
    }

    private func checkNames() throws(MediaError) {
        guard case .files(let template) = destination else {
            guard names.count <= 1 else {
                throw MediaError(
                    .invalidArgument, "standard output takes one image, not \(names.count); name a folder with -o")
            }
            return
        }
        guard names.count > 1, !template.contains(.index) else { return }
        var taken: Set<[UInt8]> = []
        for place in 0..<names.count {
            let name = names.image(template, place: place, size: nil)
            guard taken.insert(name).inserted else {
                throw MediaError(
                    .invalidArgument,
                    "several images would be named \(FilePath(bytes: name).string); put {index} into the name")
            }
        }
    }

    /// Writes the image for one time, and puts it in place.
    ///
    /// - Returns: The path of the file; `nil` for standard output.
    func write(_ bytes: [UInt8], size: Dimensions, place: Int) throws(MediaError) -> FilePath? {
        guard case .files(let template) = destination else {
            try outputs.put(bytes, at: "-")
            return nil
        }
        let path = FilePath(bytes: names.image(template, place: place, size: size))
        try outputs.put(bytes, at: path)
        return path
    }
}

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
