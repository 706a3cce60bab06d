import FileOutput
import ISOMedia
import MatroskaMedia
import MediaBase
import SystemCalls
import SystemPackage

/// Completes a QuickTime or MPEG-4 file that libavformat has written: exact edit lists, apertures, and the index before
/// the media.
///
/// The media is not copied where the file system can put room in front of it (ext4, XFS); elsewhere it is moved in place.
struct MovieHeaderRewriter {
    private let file: FileDescriptor
    private let isIndexFirst: Bool
    private let movie: Movie
    /// Throws where the work was cancelled.
    private let check: () throws(MediaError) -> Void

    /// What the movie is to say as a whole.
    struct Movie {
        /// When it came into being, in ISO 8601; `nil` leaves what is written.
        var creationTime: String?
        /// Where it was taken, in ISO 6709, and in which language that is said.
        var location: (place: String, language: String?)?
        /// The rest of its metadata.
        var metadata: [MetadataEntry] = []
        /// It is a QuickTime file, not one of MPEG-4.
        var isQuickTime: Bool
    }

    /// What a track is to say.
    struct Track {
        /// Its place in the movie.
        var index: Int
        /// Which part of the presentation its samples are; `nil` leaves the edit list as it is.
        var presented: (start: MediaTime, end: MediaTime)?
        /// The presentation time of the media's zero: its first sample's decode time.
        var mediaStart: MediaTime?
        var cleanAperture: CleanAperture?
        /// Whether QuickTime's `tapt` belongs into the file.
        var keepsTrackAperture: Bool
        var isEnabled: Bool
        /// ISO 639-2 code; `nil` leaves the one that is written.
        var language: String?
        /// The track's name; `nil` where there is none.
        var name: String?
        /// The rest of its metadata.
        var metadata: [MetadataEntry] = []
        /// When it came into being, in ISO 8601; `nil` leaves what is written.
        var creationTime: String?
        /// Dolby Vision's configuration record, which libavformat writes into MP4 alone.
        var dolbyVision: HDRInfo.DolbyVisionConfiguration?
        /// Whether it has pictures, and so sizes.
        var isVideo: Bool
    }

    init(
        file: FileDescriptor, isIndexFirst: Bool, movie: Movie, check: @escaping () throws(MediaError) -> Void
    ) {
        self.file = file
        self.movie = movie
        self.isIndexFirst = isIndexFirst
        self.check = check
    }

    /// What room is made in multiples of: the block size of all usual file systems.
    private static let block: UInt64 = 4096

    /// Changes the file.
    func finish(_ tracks: [Track]) throws(MediaError) {
        var reader = BoxReader(DescriptorByteSource(file: file))
        let boxes = try reader.boxes(in: reader.wholeSource)
        guard let movie = boxes.last, movie.type == "moov", let media = boxes.first(where: { $0.type == "mdat" }) else {
            return
        }
        var editor = try MovieEditor(bytes(movie.range))
        for track in tracks { try apply(track, to: &editor) }
        try editor.endTimecodesWithTheirMedia()
        if let date = self.movie.creationTime { try editor.setCreationTime(date, track: nil) }
        if let location = self.movie.location { editor.setLocation(location.place, language: location.language) }
        try editor.setMetadata(self.movie.metadata, track: nil, isQuickTime: self.movie.isQuickTime)
        guard isIndexFirst, let brands = boxes.first, brands.type == "ftyp", movie.offset > media.offset else {
            return try replace(movie, by: editor.bytes)
        }
        try putFirst(&editor, brands: brands, media: media.offset..<movie.offset)
    }

    private func apply(_ track: Track, to editor: inout MovieEditor) throws(MediaError) {
        guard track.index < editor.trackCount else { return }
        try editor.setEnabled(track.isEnabled, track: track.index)
        if let language = track.language { try editor.setLanguage(language.lowercased(), track: track.index) }
        if let name = track.name { try editor.setName(name, track: track.index) }
        try editor.setMetadata(track.metadata, track: track.index, isQuickTime: movie.isQuickTime)
        if let date = track.creationTime { try editor.setCreationTime(date, track: track.index) }
        try editor.setMediaDuration(track: track.index)
        if track.isVideo {
            if let record = track.dolbyVision { try editor.addDolbyVision(record, track: track.index) }
            try editor.setAperture(
                track.cleanAperture, track: track.index, writesTrackAperture: track.keepsTrackAperture)
        }
        guard let (start, end) = track.presented, let mediaStart = track.mediaStart, start < end else { return }
        let mediaScale = try editor.mediaTimescale(ofTrack: track.index)
        func ticks(_ time: MediaTime, _ scale: Int32) -> Int64 {
            time.converted(toTimescale: scale).value
        }
        let (from, to) = (ticks(start, editor.timescale), ticks(end, editor.timescale))
        var edits: [EditListEntry] = []
        if from > 0 { edits.append(EditListEntry(segmentDuration: UInt64(from), mediaTime: -1)) }
        edits.append(
            EditListEntry(
                segmentDuration: UInt64(max(0, to - max(0, from))),
                mediaTime: max(0, ticks(start - mediaStart, mediaScale))))
        try editor.setEdits(edits, track: track.index)
    }

    private func replace(_ movie: Box, by bytes: [UInt8]) throws(MediaError) {
        try write(bytes, at: movie.offset)
        try setLength(movie.offset + UInt64(bytes.count))
    }

    private func putFirst(
        _ editor: inout MovieEditor, brands: Box, media: Range<UInt64>
    ) throws(MediaError) {
        let head = try bytes(brands.range)
        // Room for the case that every offset grows to 64 bits.
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

    /// Puts the file's content so much further back.
    private func makeRoom(_ room: UInt64, before media: Range<UInt64>) throws(MediaError) {
        guard room > 0 else { return }
        do throws(Errno) {
            try insertZeros(into: file, at: 0, count: Int64(room))
        } catch .noSpace {
            throw MediaError(Errno.noSpace, "write", path: nil)
        } catch {
            // Not every file system can; then the media moves, its end first.
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
        do throws(Errno) {
            try writeAll(bytes.span, to: file, at: Int64(clamping: offset))
        } catch {
            throw MediaError(error, "write", path: nil)
        }
    }

    private func setLength(_ length: UInt64) throws(MediaError) {
        do throws(Errno) {
            try SystemCalls.setLength(of: file, to: Int64(clamping: length))
        } catch {
            throw MediaError(error, "write", path: nil)
        }
    }
}

/// The bytes of an open file that is written, for the box reader.
struct DescriptorByteSource: ByteSource {
    let file: FileDescriptor

    var size: UInt64? { (try? file.stat()).flatMap { UInt64(exactly: $0.size) } }

    func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        guard let start = Int64(exactly: offset) else { return [] }
        do throws(Errno) {
            return try SystemCalls.read(from: file, at: start, atMost: count)
        } catch {
            throw MediaError(error, "read", path: nil)
        }
    }
}

/// Completes a Matroska file that libavformat has written: clean apertures of whole pixels.
struct MatroskaFinisher {
    let file: FileDescriptor

    /// How much of a file's beginning is looked at; the track list lies in it.
    private static let headBytes = 4 << 20

    /// Adds what is left of pictures, by the place of their track.
    func finish(_ crops: [Int: MatroskaCrop]) throws(MediaError) {
        guard !crops.isEmpty else { return }
        let head = try DescriptorByteSource(file: file).read(at: 0, count: Self.headBytes)
        guard let changed = MatroskaCropEditor.adding(crops, to: head), changed.count == head.count else { return }
        do throws(Errno) {
            try writeAll(changed.span, to: file, at: 0)
        } catch {
            throw MediaError(error, "write", path: nil)
        }
    }
}

extension CleanAperture {
    /// What it shows, where its edges lie between pixels of the picture.
    var wholePixels: PixelRectangle? {
        func isWhole(_ length: Rational, _ number: Int) -> Bool { length == Rational(Int64(number)) }
        guard isWhole(rectangle.x, pixelRect.x), isWhole(rectangle.y, pixelRect.y),
            isWhole(rectangle.width, pixelRect.width), isWhole(rectangle.height, pixelRect.height)
        else { return nil }
        return pixelRect
    }
}
