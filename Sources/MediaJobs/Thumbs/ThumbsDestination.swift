package import MediaBase
internal import SystemCalls
package import SystemPackage

/// Where images go: into files, or one of them to standard output.
package enum ThumbsDestination: Sendable, Hashable {
    /// The process's standard output, for one image.
    case standardOutput
    /// Files named by a template; folders that are missing are made.
    case files(ThumbsNameTemplate)

    /// The current folder, with the usual names.
    package static let currentFolder = ThumbsDestination.files(ThumbsNameTemplate(inFolder: []))

    /// The place that a path means: `-`, a folder, or a template for names.
    ///
    /// A folder is what exists as one, what ends with a slash, and what has neither a placeholder nor an extension of
    /// ``ThumbsFormat``. What exists and is neither file nor folder, such as a FIFO, is written directly.
    /// - Throws: `invalidArgument` for a template that makes no sense, and for the extension of another image format.
    package init(_ path: FilePath, endsWithSlash: Bool) throws(MediaError) {
        let bytes = path.bytes
        if bytes == Array("-".utf8), !endsWithSlash {
            self = .standardOutput
            return
        }
        switch (try? Stat(path))?.type {
        case .directory:
            let slash = UInt8(ascii: "/")
            self = .files(ThumbsNameTemplate(inFolder: bytes + (bytes.last == slash ? [] : [slash])))
            return
        case .some(let type) where type != .regular && !endsWithSlash:
            self = .files(ThumbsNameTemplate(literal: bytes))
            return
        default: break
        }
        let template = try ThumbsNameTemplate(parsing: bytes)
        let ending = Self.lowercasedExtension(of: bytes)
        if !endsWithSlash, Self.otherFormats.contains(ending) {
            throw MediaError(
                .invalidArgument, "images are written as \(ThumbsFormat.names), not as .\(ending)", path: path.string)
        }
        let isName = template.hasFields || ThumbsFormat.allCases.contains { $0.fileExtension == ending }
        self = .files(endsWithSlash || !isName ? template.asFolder : template)
    }

    private static let otherFormats: Set<String> = [
        "jpg", "jpeg", "webp", "avif", "heic", "gif", "bmp", "tif", "tiff", "jxl", "svg", "pdf",
    ]

    private static func lowercasedExtension(of bytes: [UInt8]) -> String {
        let name = bytes.split(separator: UInt8(ascii: "/")).last ?? []
        guard let point = name.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        return String(decoding: name[(point + 1)...], as: UTF8.self).lowercased()
    }
}

/// A file format for images.
package enum ThumbsFormat: String, Sendable, CaseIterable {
    /// Portable Network Graphics, 8 bits, with alpha where the picture has any.
    case png

    /// The usual extension, without a point.
    package var fileExtension: String { rawValue }

    static let names = allCases.map { $0.rawValue.uppercased() }.joined(separator: ", ")
}
