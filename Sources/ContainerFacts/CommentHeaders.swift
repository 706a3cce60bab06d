package import MediaBase

/// The packets and blocks of Ogg and FLAC files that hold comments, found and changed in place.
///
/// Ogg: RFC 3533, 6. FLAC: RFC 9639, 8.
package struct CommentHeaders {
    /// A list of comments, by the place of its bytes in the file.
    struct Comments {
        /// The bytes, from the vendor's length on.
        let bytes: [UInt8]
        /// The places in the file that hold them, in order.
        let places: [Range<UInt64>]
        /// The pages that these belong to, each with a checksum; none in FLAC.
        let pages: [Range<UInt64>]
    }

    /// The comments of each stream, in the order of their first pages; `nil` for a stream without any.
    let streams: [Comments?]
    /// FLAC's pictures.
    private let pictures: [MetadataItem]

    /// The maximum size of headers, and the maximum number of pages or blocks that are read.
    private static let maximumBytes = 64 << 20
    private static let maximumParts = 5000

    /// Finds the comments of a file.
    ///
    /// - Parameters:
    ///   - source: The file, or what remains of it behind other data.
    ///   - format: Ogg or FLAC; nothing is found in others.
    /// - Throws: Any error of the source.
    package init(_ source: any ByteSource, format: ContainerFormat) throws(MediaError) {
        switch format {
        case .ogg: (streams, pictures) = (try Self.ogg(source), [])
        case .flac:
            let (comments, found) = try Self.flac(source)
            (streams, pictures) = ([comments], found)
        default: (streams, pictures) = ([], [])
        }
    }

    /// Returns the metadata of a stream: its comments, then FLAC's pictures.
    ///
    /// - Parameter index: The place of the stream in the file.
    package func items(ofStream index: Int) -> [MetadataItem] {
        guard streams.indices.contains(index) else { return [] }
        return (streams[index].map { VorbisComments.items($0.bytes[...]) } ?? []) + pictures
    }

    /// Returns the bytes to write so that the comments of a stream take the place of their placeholder, each with its
    /// offset.
    ///
    /// - Parameters:
    ///   - written: The comments.
    ///   - index: The index of the stream.
    ///   - source: The file.
    /// - Throws: Any error of the source.
    package func changes(
        for written: VorbisComments.Written, stream index: Int, in source: any ByteSource
    ) throws(MediaError) -> [(bytes: [UInt8], offset: UInt64)] {
        guard streams.indices.contains(index), let comments = streams[index],
            let changed = written.replacing(in: comments.bytes), changed.count == comments.bytes.count
        else { return [] }
        var pieces: [(bytes: [UInt8], offset: UInt64)] = []
        var rest = changed[...]
        for place in comments.places {
            pieces.append((Array(rest.prefix(place.count)), place.lowerBound))
            rest = rest.dropFirst(place.count)
        }
        guard !comments.pages.isEmpty else { return pieces }
        var pages: [(bytes: [UInt8], offset: UInt64)] = []
        for page in comments.pages {
            var bytes = try source.read(at: page.lowerBound, count: page.count)
            guard bytes.count == page.count, bytes.count > Self.pageHead else { return [] }
            for piece in pieces where page.contains(piece.offset) {
                let start = Int(piece.offset - page.lowerBound)
                guard start + piece.bytes.count <= bytes.count else { return [] }
                bytes.replaceSubrange(start..<start + piece.bytes.count, with: piece.bytes)
            }
            bytes.replaceSubrange(22..<26, with: [0, 0, 0, 0])
            bytes.replaceSubrange(22..<26, with: VorbisComments.bytes(Int(Self.checksum(bytes))))
            pages.append((bytes, page.lowerBound))
        }
        return pages
    }

    // MARK: FLAC

    private static func flac(_ source: any ByteSource) throws(MediaError) -> (Comments?, [MetadataItem]) {
        var offset = ID3Tag.size(try source.read(at: 0, count: 10))
        guard try source.read(at: offset, count: 4).elementsEqual("fLaC".utf8) else { return (nil, []) }
        offset += 4
        var comments: Comments?
        var pictures: [MetadataItem] = []
        var budget = maximumBytes
        for _ in 0..<maximumParts {
            let head = try source.read(at: offset, count: 4)
            guard head.count == 4 else { break }
            let size = Int(head.dropFirst().bigEndian)
            let start = offset + 4
            let type = head[0] & 0x7F
            if type == 4 || type == 6 {
                budget -= size
                guard budget >= 0 else { break }
                let bytes = try source.read(at: start, count: size)
                if type == 6 {
                    if let picture = FLACPicture.item(bytes[...]) { pictures.append(picture) }
                } else if comments == nil {
                    comments = Comments(bytes: bytes, places: [start..<start + UInt64(bytes.count)], pages: [])
                }
            }
            if head[0] & 0x80 != 0 { break }
            offset = start + UInt64(size)
        }
        return (comments, pictures)
    }

    // MARK: Ogg

    private static let pageHead = 27

    /// A stream whose second packet is not complete yet.
    private struct Stream {
        var packets = 0
        var isSpeex = false
        var bytes: [UInt8] = []
        var places: [Range<UInt64>] = []
        var pages: [Range<UInt64>] = []
    }

    private static func ogg(_ source: any ByteSource) throws(MediaError) -> [Comments?] {
        var order: [UInt32] = []
        var streams: [UInt32: Stream] = [:]
        var offset: UInt64 = 0
        var budget = maximumBytes
        for _ in 0..<maximumParts {
            let head = try source.read(at: offset, count: pageHead + 255)
            guard head.count > pageHead, head.starts(with: "OggS".utf8), head[4] == 0 else { break }
            let lengths = head[pageHead...].prefix(Int(head[26]))
            let body = offset + UInt64(pageHead + lengths.count)
            let size = lengths.reduce(0) { $0 + Int($1) }
            let page = offset..<body + UInt64(size)
            let serial = UInt32(truncatingIfNeeded: head[14..<18].littleEndian)
            let isFirst = head[5] & 2 != 0
            if isFirst, streams[serial] == nil {
                order.append(serial)
                streams[serial] = Stream()
            }
            // All streams begin before the first page of content.
            if !isFirst, streams.values.allSatisfy({ $0.packets >= 2 }) { break }
            if var stream = streams[serial], stream.packets < 2 {
                budget -= size
                guard budget >= 0 else { break }
                let bytes = try source.read(at: body, count: size)
                add(bytes, lengths: lengths, body: body, page: page, to: &stream)
                streams[serial] = stream
            }
            offset = page.upperBound
        }
        return order.map { streams[$0].flatMap(comments) }
    }

    /// Adds the part of a page that belongs to a stream's second packet.
    private static func add(
        _ bytes: [UInt8], lengths: ArraySlice<UInt8>, body: UInt64, page: Range<UInt64>, to stream: inout Stream
    ) {
        var start = 0
        for length in lengths {
            let end = min(start + Int(length), bytes.count)
            if stream.packets == 0, stream.bytes.count < 8 {
                stream.bytes += bytes[start..<end].prefix(8)
            } else if stream.packets == 1 {
                stream.bytes += bytes[start..<end]
                let place = body + UInt64(start)..<body + UInt64(end)
                if let last = stream.places.last, last.upperBound == place.lowerBound {
                    stream.places[stream.places.count - 1] = last.lowerBound..<place.upperBound
                } else {
                    stream.places.append(place)
                }
                if stream.pages.last != page { stream.pages.append(page) }
            }
            start = end
            guard length < 255 else { continue }
            stream.packets += 1
            if stream.packets == 1 {
                stream.isSpeex = stream.bytes.starts(with: "Speex".utf8)
                stream.bytes = []
            }
        }
    }

    /// Removes the codec's own header; `nil` for packets of other codecs, and for ones that are not complete.
    private static func comments(_ stream: Stream) -> Comments? {
        guard stream.packets >= 2 else { return nil }
        let bytes = stream.bytes
        let headSize: Int
        if bytes.starts(with: "OpusTags".utf8) {
            headSize = 8
        } else if bytes.starts(with: [3] + Array("vorbis".utf8)) || bytes.starts(with: [0x81] + Array("theora".utf8)) {
            headSize = 7
        } else if bytes.count >= 4, bytes[0] & 0x7F == 4, Int(bytes[1..<4].bigEndian) == bytes.count - 4 {
            headSize = 4
        } else {
            guard stream.isSpeex else { return nil }
            headSize = 0
        }
        var skipped = UInt64(headSize)
        let places = stream.places.compactMap { place -> Range<UInt64>? in
            let part = min(skipped, UInt64(place.count))
            skipped -= part
            return place.lowerBound + part == place.upperBound ? nil : place.lowerBound + part..<place.upperBound
        }
        return Comments(bytes: Array(bytes.dropFirst(headSize)), places: places, pages: stream.pages)
    }

    /// The remainders of bytes by the polynomial 0x04C11DB7, the highest bit first.
    private static let remainders: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte) << 24) { bits, _ in bits << 1 ^ (bits >> 31 == 1 ? 0x04C1_1DB7 : 0) }
    }

    /// Returns the checksum of a page whose own field is zero.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0) { sum, byte in sum << 8 ^ remainders[Int(UInt8(truncatingIfNeeded: sum >> 24) ^ byte)] }
    }
}
