import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import SystemPackage

/// The options of `thumbs` that select the outputs.
struct ThumbsOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A folder (made if missing), a template for names, or - for one image to standard output. Placeholders: "
                + "\(ThumbsNameTemplate.placeholders); seconds, timecode and frame are those asked for. (default: "
                + "{stem}-{index}.{ext}, of sheets {stem}-sprite-{index}.{ext} or {stem}-contact-{index}.{ext}, in "
                + "the current folder)",
            valueName: "output"))
    var output: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The format of images and sheets. (default: that of the output's extension, else png)",
            valueName: "png|jpeg|webp"),
        completion: .list(["png", "jpeg", "webp"]),
        transform: ThumbsArgument.format)
    var format: ImageFileFormat?

    @Option(
        help: ArgumentHelp(
            "The quality of JPEG (libjpeg's scale, with full chroma from 90 on) and WebP (libwebp's scale), 1 to 100. "
                + "(default: 85)",
            valueName: "n"))
    var quality: Int?

    @Flag(help: "Write sheets of images side by side instead, for players.")
    var sprite = false

    @Flag(help: "Write sheets of images instead, with a header, and with the time of each image.")
    var contactSheet = false

    @Option(
        help: ArgumentHelp(
            "Columns and rows of a sheet, or only columns for one sheet with as many rows as needed. Without times, one "
                + "sheet is filled. (default: 10x10, for --contact-sheet 4x4)",
            valueName: "CxR|C"))
    var grid: ThumbsArgument.Grid?

    @Option(
        help: ArgumentHelp(
            "The pixels between the images of a sheet. (default: 0, for --contact-sheet 4)", valueName: "pixels"))
    var gap: Int?

    @Option(
        help: ArgumentHelp("The colour between the images of a sheet. (default: black)", valueName: "color"),
        transform: CommonArgument.color)
    var background = Color.black

    @Flag(help: "Leave out the header of --contact-sheet.")
    var noHeader = false

    @Flag(help: "Leave out the times on --contact-sheet.")
    var noTimestamps = false

    @Option(
        help: ArgumentHelp(
            "With sheets: also write the single images, named like --output.", valueName: "output"))
    var images: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Write a WebVTT index of the sheets or images: a file, a template with {stem}, or a folder.",
            valueName: "file"))
    var vtt: PathArgument?

    /// True if sheets are written.
    var hasSheets: Bool { sprite || contactSheet }

    /// The number of images that fill a sheet; `nil` without sheets.
    var imagesPerSheet: Int? { hasSheets ? shape.columns * (shape.rows ?? shape.columns) : nil }

    /// The default for the longest side of an image; `nil` for full size.
    var standardSide: Int? { sprite ? 160 : contactSheet ? 320 : nil }

    private var shape: ThumbsArgument.Grid {
        grid ?? (sprite ? .init(columns: 10, rows: 10) : .init(columns: 4, rows: 4))
    }

    func validate() throws {
        if sprite { try CommonArgument.exclude("--sprite", ("--contact-sheet", contactSheet)) }
        if !hasSheets, grid != nil || gap != nil || images != nil {
            throw ValidationError("'--grid', '--gap' and '--images' need '--sprite' or '--contact-sheet'.")
        }
        if !contactSheet, noHeader || noTimestamps {
            throw ValidationError("'--no-header' and '--no-timestamps' need '--contact-sheet'.")
        }
        try CommonArgument.check("--gap", gap, in: 0...1000)
        try CommonArgument.check("--quality", quality, in: 1...100)
        _ = try result(pad: .black)
    }

    /// Returns the outputs that the options select.
    ///
    /// - Parameter pad: The colour behind transparent pictures in JPEG.
    /// - Throws: `ValidationError` if the options contradict each other.
    func result(pad: Color) throws -> ThumbsOutput {
        let format = try chosenFormat()
        if quality != nil, !format.isLossy {
            throw ValidationError("'--quality' is for JPEG and WebP; PNG is lossless.")
        }
        var result = ThumbsOutput(
            images: hasSheets
                ? try images.map { try destination($0, .images) }
                : try output.map { try destination($0, .images) } ?? .currentFolder())
        result.sheets = try sheets()
        result.index = try vtt.map { path in
            guard case .files(let template) = try destination(path, .index) else {
                throw ValidationError("'--vtt' takes a file, not standard output.")
            }
            try refuse([.index, .seconds, .timecode, .frame, .width, .height, .ext], in: template, of: "--vtt")
            return template
        }
        if result.index != nil, result.sheets == nil, result.images == .standardOutput {
            throw ValidationError("'--vtt' needs images that have names: '-o -' gives them none.")
        }
        result.format = format
        result.quality = quality ?? result.quality
        result.background = pad
        return result
    }

    private func sheets() throws -> ThumbsOutput.Sheets? {
        guard hasSheets else { return nil }
        let usual: ThumbsNameTemplate.Usual = sprite ? .sprites : .contactSheets
        let place = try output.map { try destination($0, usual) } ?? .currentFolder(usual)
        guard case .files(let template) = place else {
            throw ValidationError("Sheets go into files: '-o -' is for one image.")
        }
        try refuse([.seconds, .timecode, .frame], in: template, of: "the sheets' name")
        var sheets = ThumbsOutput.Sheets(template, columns: shape.columns, rows: shape.rows)
        sheets.gap = gap ?? (contactSheet ? 4 : 0)
        sheets.background = background
        sheets.hasHeader = contactSheet && !noHeader
        sheets.hasTimestamps = contactSheet && !noTimestamps
        return sheets
    }

    private func refuse(
        _ fields: [ThumbsNameTemplate.Field], in template: ThumbsNameTemplate, of name: String
    ) throws {
        guard let field = fields.first(where: template.contains) else { return }
        throw ValidationError("{\(field.rawValue)} means nothing in \(name).")
    }

    /// Returns the image format; the option and the extensions of names must not contradict each other.
    private func chosenFormat() throws -> ImageFileFormat {
        var format = format
        for path in [output, images].compactMap(\.self) where !path.endsWithSlash {
            guard let named = ThumbsDestination.format(of: path.path) else { continue }
            if let format, named != format {
                throw ValidationError(
                    "'\(path.path.displayPath)' does not match the format \(format.rawValue.uppercased()); use {ext} for the extension."
                )
            }
            format = named
        }
        return format ?? .png
    }

    private func destination(_ path: PathArgument, _ names: ThumbsNameTemplate.Usual) throws -> ThumbsDestination {
        do throws(MediaError) {
            return try ThumbsDestination(path.path, endsWithSlash: path.endsWithSlash, names: names)
        } catch {
            throw ValidationError(error.message + ".")
        }
    }
}
