import ContainerFacts
import FileOutput
import ISOMedia
import MatroskaMedia
import MediaBase
import SystemCalls
import SystemPackage

/// Completes a QuickTime or MPEG-4 file written by libavformat: exact edit lists, apertures, and an index before the
/// media.
///
/// The media is not copied if the file system can insert space before it (ext4, XFS); otherwise it is moved within the
/// file.
struct MovieHeaderRewriter {
    private let file: FileDescriptor
    private let isIndexFirst: Bool
    private let edits: MovieHeaderEdits
    /// Throws if the work was cancelled.
    private let check: () throws(MediaError) -> Void

    init(
        file: FileDescriptor, isIndexFirst: Bool, edits: MovieHeaderEdits,
        check: @escaping () throws(MediaError) -> Void
    ) {
        self.file = file
        self.edits = edits
        self.isIndexFirst = isIndexFirst
        self.check = check
    }

    /// The unit in which space is inserted: the block size of all common file systems.
    private static let block: UInt64 = 4096

    /// Rewrites the movie header and, if requested, moves it before the media.
    func finish() throws(MediaError) {
        var reader = BoxReader(DescriptorByteSource(file: file))
        let boxes = try reader.boxes(in: reader.wholeSource)
        guard let movie = boxes.last, movie.type == "moov", let media = boxes.first(where: { $0.type == "mdat" }) else {
            return
        }
        var editor = try MovieEditor(bytes(movie.range))
        try edits.apply(to: &editor)
        guard isIndexFirst, let brands = boxes.first, brands.type == "ftyp", movie.offset > media.offset else {
            return try replace(movie, by: editor.bytes)
        }
        try putFirst(&editor, brands: brands, media: media.offset..<movie.offset)
    }

    private func replace(_ movie: Box, by bytes: [UInt8]) throws(MediaError) {
        try write(bytes, at: movie.offset)
        try setLength(movie.offset + UInt64(bytes.count))
    }

    private func putFirst(
        _ editor: inout MovieEditor, brands: Box, media: Range<UInt64>
    ) throws(MediaError) {
        let head = try bytes(brands.range)
        // Reserves space for the case that every offset grows to 64 bits.
        let most = UInt64(editor.bytes.count) * 2 + Self.block
        try editor.moveMedia(by: 0, reserve: most)
        let needed = UInt64(head.count + editor.bytes.count + 8)
        let missing = needed > media.lowerBound ? needed - media.lowerBound : 0
        let room = (missing + Self.block - 1) / Self.block * Self.block
        try editor.moveMedia(by: room, reserve: most)
        try makeRoom(room, before: media)
        var front = head + editor.bytes
        let gap = media.lowerBound + room - UInt64(front.count)
        front.append(bigEndian: UInt32(clamping: gap))
        front.append(bigEndian: ("free" as FourCC).rawValue)
        front += [UInt8](repeating: 0, count: Int(clamping: gap) - 8)
        try write(front, at: 0)
        try setLength(media.upperBound + room)
    }

    /// Moves the file's content towards its end by `room` bytes.
    private func makeRoom(_ room: UInt64, before media: Range<UInt64>) throws(MediaError) {
        guard room > 0 else { return }
        do throws(Errno) {
            try insertZeros(into: file, at: 0, count: Int64(room))
        } catch .noSpace {
            throw MediaError(Errno.noSpace, "write", path: nil)
        } catch {
            // Not every file system supports this; the fallback moves the media, starting at its end.
            let chunk: UInt64 = 4 << 20
            var end = media.upperBound
            while end > media.lowerBound {
                try check()
                let start = end - min(chunk, end - media.lowerBound)
                try write(bytes(start..<end), at: start + room)
                end = start
            }
        }
    }

    private func bytes(_ range: Range<UInt64>) throws(MediaError) -> [UInt8] {
        let bytes = try DescriptorByteSource(file: file).read(
            at: range.lowerBound, count: Int(clamping: range.upperBound - range.lowerBound))
        guard bytes.count == range.count else { throw MediaError(.inputOutput, "the file that is written was changed") }
        return bytes
    }

    private func write(_ bytes: [UInt8], at offset: UInt64) throws(MediaError) {
        try failing("write") { () throws(Errno) in try writeAll(bytes.span, to: file, at: Int64(clamping: offset)) }
    }

    private func setLength(_ length: UInt64) throws(MediaError) {
        try failing("write") { () throws(Errno) in
            try SystemCalls.setLength(of: file, to: Int64(clamping: length))
        }
    }
}

/// Reads bytes of an open file that is being written, for the box reader.
struct DescriptorByteSource: ByteSource {
    let file: FileDescriptor

    var size: UInt64? { (try? file.stat()).flatMap { UInt64(exactly: $0.size) } }

    func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        guard let start = Int64(exactly: offset) else { return [] }
        return try failing("read") { () throws(Errno) in
            try SystemCalls.read(from: file, at: start, atMost: count)
        }
    }
}

/// Completes the header of a Matroska file written by libavformat: adds clean apertures of whole pixels.
struct MatroskaHeaderRewriter {
    let file: FileDescriptor

    /// The number of bytes that are searched at the start of the file; they contain the track list.
    private static let headBytes = 4 << 20

    /// Adds the crops of video tracks, by track index.
    func finish(_ crops: [Int: MatroskaCrop]) throws(MediaError) {
        guard !crops.isEmpty else { return }
        let head = try DescriptorByteSource(file: file).read(at: 0, count: Self.headBytes)
        guard let changed = MatroskaCropEditor.adding(crops, to: head), changed.count == head.count else { return }
        try failing("write") { () throws(Errno) in try writeAll(changed.span, to: file, at: 0) }
    }
}

/// Completes an Ogg or FLAC file written by libavformat: puts comments where it wrote their placeholders.
struct CommentRewriter {
    let file: FileDescriptor

    /// Writes the comments of each stream.
    ///
    /// - Parameters:
    ///   - streams: The index of each stream in the file, and its comments.
    ///   - fileType: Ogg or FLAC.
    func finish(
        _ streams: [(index: Int?, comments: VorbisComments.Written?)], in fileType: MediaFileType
    ) throws(MediaError) {
        let source = DescriptorByteSource(file: file)
        let headers = try CommentHeaders(source, format: fileType == .ogg ? .ogg : .flac)
        for case (let index?, let comments?) in streams {
            for (bytes, offset) in try headers.changes(for: comments, stream: index, in: source) {
                try failing("write") { () throws(Errno) in
                    try writeAll(bytes.span, to: file, at: Int64(clamping: offset))
                }
            }
        }
    }
}

extension CleanAperture {
    /// The visible rectangle, if its edges lie between pixels of the picture; otherwise `nil`.
    var wholePixels: PixelRectangle? {
        func isWhole(_ length: Rational, _ number: Int) -> Bool { length == Rational(Int64(number)) }
        guard isWhole(rectangle.x, pixelRect.x), isWhole(rectangle.y, pixelRect.y),
            isWhole(rectangle.width, pixelRect.width), isWhole(rectangle.height, pixelRect.height)
        else { return nil }
        return pixelRect
    }
}
