package import MediaBase

/// Divides the bytes of a fragmented movie into its header and the fragments after it.
///
/// ISO/IEC 14496-12, 8.8 (movie fragments).
package struct FragmentParts: Sendable {
    /// The file type and movie boxes; empty if the bytes contain only fragments.
    package private(set) var header: [UInt8] = []
    /// All boxes from the first fragment on; empty if the bytes contain only the header.
    package private(set) var fragments: [UInt8] = []

    /// Divides bytes that consist of whole boxes.
    ///
    /// - Parameter bytes: The bytes, as a muxer wrote them.
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if the sizes of the boxes are inconsistent.
    package init(_ bytes: [UInt8]) throws(MediaError) {
        var place = 0
        while place < bytes.count {
            var reader = BigEndianReader(Array(bytes[place...].prefix(16)))
            var size = Int(clamping: try reader.uint32())
            let type = try reader.fourCC()
            if size == 1 { size = Int(clamping: try reader.uint64()) }
            guard size >= 8, size <= bytes.count - place else {
                throw MediaError(.damaged, "the box \(type) of a fragment does not add up")
            }
            if type == "moof" || type == "mfra" { break }
            place += size
        }
        header = Array(bytes[..<place])
        fragments = Array(bytes[place...])
    }

    /// Returns the header with its movie box edited, for players that read the header before all fragments.
    ///
    /// - Parameters:
    ///   - header: The file type and movie boxes.
    ///   - edit: Edits the movie; the number of its tracks stays the same.
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if there is no movie box, and errors of `edit`.
    package static func editing(
        _ header: [UInt8], _ edit: (inout MovieEditor) throws(MediaError) -> Void
    ) throws(MediaError) -> [UInt8] {
        var edited: [UInt8] = []
        for box in try EditableBox.list(header) {
            guard box.type == "moov" else {
                box.write(to: &edited)
                continue
            }
            var editor = try MovieEditor(box.bytes)
            try edit(&editor)
            edited += editor.bytes
        }
        return edited
    }

    /// Returns the place of a track's first sample in bytes that begin with a fragment; `nil` if it has none there.
    ///
    /// - Parameters:
    ///   - trackID: The track ID.
    ///   - bytes: The fragment, in which offsets count from the start of its `moof` box (8.8.7, `default-base-is-moof`).
    package static func firstSample(ofTrack trackID: UInt32, in bytes: [UInt8]) -> Range<Int>? {
        var reader = BoxReader(ArrayByteSource(bytes))
        guard let moof = try? reader.box(at: 0, end: UInt64(bytes.count)), moof.type == "moof",
            let tree = try? BoxTree(moof, reader: &reader)
        else { return nil }
        for traf in tree.children("traf", of: 0) {
            let header = try? reader.parse(tree.box("tfhd", from: traf)) { reader throws(MediaError) in
                let (_, flags) = try reader.versionAndFlags()
                let id = try reader.uint32()
                for (flag, size) in [(0x1, 8), (0x2, 4), (0x8, 4)] as [(UInt32, Int)] where flags & flag != 0 {
                    try reader.skip(size)
                }
                return (id: id, defaultSize: flags & 0x10 != 0 ? try reader.uint32() : 0)
            }
            guard let header, header.id == trackID else { continue }
            let run = try? reader.parse(tree.box("trun", from: traf)) { reader throws(MediaError) in
                let (_, flags) = try reader.versionAndFlags()
                try reader.skip(4)
                let offset = flags & 0x1 != 0 ? try reader.int32() : 0
                if flags & 0x4 != 0 { try reader.skip(4) }
                if flags & 0x100 != 0 { try reader.skip(4) }
                return (offset: Int(offset), size: Int(flags & 0x200 != 0 ? try reader.uint32() : header.defaultSize))
            }
            guard let run, run.offset >= 0, run.size <= bytes.count - run.offset else { return nil }
            return run.offset..<run.offset + run.size
        }
        return nil
    }

    /// Moves the samples of tracks to later decode times (`tfdt`, 8.8.12).
    ///
    /// - Parameter delays: The ticks to add, by track ID, in each track's timescale.
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if a fragment has no decode time of 64 bits.
    package mutating func delay(by delays: [UInt32: UInt64]) throws(MediaError) {
        var reader = BoxReader(ArrayByteSource(fragments))
        for box in try reader.boxes(in: reader.wholeSource) where box.type == "moof" {
            let tree = try BoxTree(box, reader: &reader)
            for traf in tree.children("traf", of: 0) {
                let id = try reader.parse(tree.box("tfhd", from: traf)) { reader throws(MediaError) in
                    try reader.skip(4)
                    return try reader.uint32()
                }
                guard let delay = id.flatMap({ delays[$0] }) else { continue }
                let time = try reader.parse(tree.box("tfdt", from: traf)) { reader throws(MediaError) in
                    let (version, _) = try reader.versionAndFlags()
                    return version == 1 ? try reader.uint64() : nil
                }
                guard let place = tree.box("tfdt", from: traf)?.payload.lowerBound, let time, let time else {
                    throw MediaError(.damaged, "a fragment has no decode time of 64 bits")
                }
                fragments.replace(at: Int(clamping: place) + 4, bigEndian: time.addingClamped(delay))
            }
        }
    }

    /// The box that begins each media segment of a stream (8.16.2).
    package static let segmentType: [UInt8] = {
        var box = EditableBox("styp", [])
        box.fields.append(bigEndian: ("msdh" as FourCC).rawValue)
        box.fields.append(bigEndian: UInt32(0))
        for brand in ["msdh", "msix"] as [FourCC] { box.fields.append(bigEndian: brand.rawValue) }
        return box.bytes
    }()
}
