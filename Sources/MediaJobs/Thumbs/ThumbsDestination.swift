package import AssetKit
package import MediaBase
internal import SystemCalls
package import SystemPackage

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
