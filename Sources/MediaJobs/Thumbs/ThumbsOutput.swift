package import AssetKit
package import Pictures

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
