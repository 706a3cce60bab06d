package import AssetKit
package import MediaBase
package import Pictures
internal import SystemCalls
package import SystemPackage

/// What ``ThumbsJob`` writes, and where.
package struct ThumbsOutput: Sendable {
    /// Pictures that hold many images in a grid.
    package struct Sheets: Sendable, Hashable {
        /// Where they go.
        package var names: ThumbsNameTemplate
        /// Images in a row, 1 or more.
        package var columns: Int
        /// Rows of a sheet; `nil` for as many as it takes to have all on one sheet.
        package var rows: Int?
        /// Pixels between images and around them.
        package var gap = 0
        /// What is between them.
        package var background = Color.black
        /// Whether the file's name, size and so on stand above.
        package var hasHeader = false
        /// Whether each image is stamped with the time that it shows.
        package var hasTimestamps = false

        /// Sheets without gaps, header and stamps: sprites.
        package init(_ names: ThumbsNameTemplate, columns: Int, rows: Int?) {
            self.names = names
            self.columns = columns
            self.rows = rows
        }
    }

    /// Where single images go; `nil` where none are wanted.
    package var images: ThumbsDestination?
    /// Sheets of all images; `nil` where none are wanted.
    package var sheets: Sheets?
    /// Where a WebVTT index of the sheets, else of the single images, goes; `nil` where none is wanted.
    package var index: ThumbsNameTemplate?
    /// The format of images and sheets.
    package var format = ImageFileFormat.png
    /// 1…100; see `Bitmap.encoded(as:quality:background:)`.
    package var quality = 85
    /// What is behind transparent pictures in a format without alpha.
    package var background = Color.black

    /// Single PNG images.
    package init(images: ThumbsDestination?) { self.images = images }
}

extension ThumbsOutput {
    /// Whether files refer to each other so that one is of no use without the others.
    var belongsTogether: Bool { sheets != nil && index != nil }

    /// Whether a name says the number of a frame.
    var needsFrameNumbers: Bool {
        if case .files(let template)? = images { template.contains(.frame) } else { false }
    }
}

/// Where images, sheets or an index go: into files, or one of them to standard output.
package enum ThumbsDestination: Sendable, Hashable {
    /// The process's standard output, for one image.
    case standardOutput
    /// Files named by a template; folders that are missing are made.
    case files(ThumbsNameTemplate)

    /// The current folder, with the usual names.
    package static func currentFolder(_ names: ThumbsNameTemplate.Usual = .images) -> ThumbsDestination {
        .files(ThumbsNameTemplate(inFolder: [], names: names))
    }

    /// The place that a path means: `-`, a folder, or a template for names.
    ///
    /// A folder is what exists as one, what ends with a slash, and what has neither a placeholder nor an extension of
    /// ``ImageFileFormat`` (of an index: `vtt`). What exists and is neither file nor folder, such as a FIFO, is written
    /// directly.
    /// - Parameter names: What is written there, and so what files in a folder are called.
    /// - Throws: `invalidArgument` for a template that makes no sense, and for the extension of another format.
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

    /// The image format that the end of a name asks for; `nil` where it asks for none.
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

/// Names the single image files of one input, and writes them.
struct ThumbsFiles {
    private let destination: ThumbsDestination
    private let outputs: OutputFileSet
    private let names: ThumbsNames

    /// Makes sure that every image has a name of its own, before anything is written.
    ///
    /// - Throws: `invalidArgument` where two images would have the same name, or several go to standard output.
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

    /// Writes the image of one time, and puts it in place.
    ///
    /// - Returns: The file; `nil` for standard output.
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
