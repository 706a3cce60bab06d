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

    /// The names of all files, with placeholders in braces.
    package var patterns: [FilePath] {
        let image: ThumbsNameTemplate? = if case .files(let template) = images { template } else { nil }
        return [image, sheets?.names, index].compactMap { $0?.pattern }
    }

    /// Returns the same output with all files in a folder.
    package func inFolder(_ folder: FilePath) -> ThumbsOutput {
        let folder = folder.bytes + [UInt8(ascii: "/")]
        var output = self
        if case .files(let template)? = images { output.images = .files(template.inFolder(folder)) }
        if let names = sheets?.names { output.sheets?.names = names.inFolder(folder) }
        output.index = index?.inFolder(folder)
        return output
    }

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
