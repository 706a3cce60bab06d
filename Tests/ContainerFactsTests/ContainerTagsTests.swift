import ContainerFacts
import MediaBase
import Testing

/// Metadata in bytes that are laid out by hand from the specifications; scripts/check metadata reads files of other programs.
struct ContainerTagsTests {
    private typealias Bytes = [UInt8]

    private static func big(_ number: Int, _ count: Int = 4) -> Bytes {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func little(_ number: Int) -> Bytes { big(number).reversed() }

    private static func synchsafe(_ number: Int) -> Bytes {
        [21, 14, 7, 0].map { UInt8(truncatingIfNeeded: number >> $0) & 0x7F }
    }

    /// A tag of a version whose frames follow one another.
    private static func tag(_ version: UInt8, flags: UInt8 = 0, _ frames: Bytes) -> Bytes {
        Array("ID3".utf8) + [version, 0, flags] + synchsafe(frames.count) + frames
    }

    private static func frame(_ id: String, _ content: Bytes, isSynchsafe: Bool = false, flags: UInt8 = 0) -> Bytes {
        Array(id.utf8) + (isSynchsafe ? synchsafe(content.count) : big(content.count)) + [0, flags] + content
    }

    private func items(_ bytes: Bytes) throws -> [MetadataItem] {
        try ID3Tag(ArrayByteSource(bytes))?.items ?? []
    }

    /// id3.org, "ID3v2.3.0": 0 is Latin-1, 1 UTF-16 with a mark.
    @Test func textsOfID3() throws {
        let read = try items(
            Self.tag(
                3,
                Self.frame("TIT2", [0, 0x47, 0x72, 0xF6]) + Self.frame("TPE1", [1, 0xFF, 0xFE, 0x16, 0x4E, 0, 0])
                    + Self.frame("TALB", [1, 0xFE, 0xFF, 0x4E, 0x16])
                    + Self.frame("COMM", [0] + Array("deu".utf8) + Array("d".utf8) + [0] + Array("text".utf8))
                    + Self.frame("TYER", [0] + Array("2008".utf8)) + Self.frame("TDAT", [0] + Array("1205".utf8))
                    + Self.frame("TIME", [0] + Array("2059".utf8)) + Self.frame("TCON", [0] + Array("(17)".utf8))))
        #expect(
            read == [
                MetadataItem(.id3MetadataTitleDescription, .text("Grö")),
                MetadataItem(.id3MetadataLeadPerformer, .text("世")), MetadataItem(.id3MetadataAlbumTitle, .text("世")),
                MetadataItem(.id3MetadataComments, .text("text"), language: "deu", extraAttributes: [.info: "d"]),
                MetadataItem(.id3MetadataYear, .date("2008-05-12 20:59")),
                MetadataItem(.id3MetadataContentType, .text("Rock")),
            ])
    }

    /// Version 4 has UTF-8, several texts in a frame, sizes of seven bits a byte, and zeros after bytes of all ones.
    @Test func textsOfVersion4() throws {
        let long = String(repeating: "x", count: 200)
        let read = try items(
            Self.tag(
                4,
                Self.frame("TPE1", [3] + Array("One".utf8) + [0] + Array("Två".utf8), isSynchsafe: true)
                    + Self.frame("TALB", [3] + Array(long.utf8), isSynchsafe: true)
                    + Self.frame("PRIV", Array("me".utf8) + [0, 0xFF, 0, 0xE0], isSynchsafe: true, flags: 2)))
        #expect(
            read == [
                MetadataItem(.id3MetadataLeadPerformer, .text("One")),
                MetadataItem(.id3MetadataLeadPerformer, .text("Två")),
                MetadataItem(.id3MetadataAlbumTitle, .text(long)),
                MetadataItem(.id3MetadataPrivate, .data([0xFF, 0xE0]), extraAttributes: [.owner: "me"]),
            ])
    }

    @Test func shortFramesOfVersion2() throws {
        let picture: Bytes = [0xFF, 0xD8, 0xFF, 0xE0]
        let content = [0] + Array("JPG".utf8) + [3, 0] + picture
        let frames =
            Array("TT2".utf8) + Self.big(5, 3) + [0] + Array("Name".utf8) + Array("PIC".utf8)
            + Self.big(content.count, 3) + content
        let read = try items(Self.tag(2, frames))
        #expect(
            read == [
                MetadataItem(.id3MetadataTitleDescription, .text("Name")),
                MetadataItem(
                    .id3MetadataAttachedPicture, .data(picture),
                    extraAttributes: [.pictureType: "3", .mimeType: "image/jpeg"]),
            ])
    }

    /// A FLAC file of a comment block: vendor, then the comments, each after its length in little-endian order.
    private static let comments: Bytes = {
        let list = ["TITLE=Größe", "artist=One", "ARTIST=Two", "CHAPTER001=00:00:00.000"].map { Array($0.utf8) }
        let body = little(1) + [0x76] + little(list.count) + list.flatMap { little($0.count) + $0 }
        return Array("fLaC".utf8) + [0x84] + big(body.count, 3) + body
    }()

    @Test func commentsOfFLAC() throws {
        let read = try CommentHeaders(ArrayByteSource(Self.comments), format: .flac).items(ofStream: 0)
        #expect(
            read == [
                MetadataItem(.vorbisTitle, .text("Größe")), MetadataItem(.vorbisArtist, .text("One")),
                MetadataItem(.vorbisArtist, .text("Two")),
            ])
    }

    /// An Ogg page: the header of 27 bytes, the lengths of its segments, and these (RFC 3533, 6).
    private static func page(_ flags: UInt8, _ packets: [Bytes]) -> Bytes {
        let lengths = packets.flatMap { packet in
            [UInt8](repeating: 255, count: packet.count / 255) + [UInt8(packet.count % 255)]
        }
        let head =
            Array("OggS".utf8) + [0, flags] + Bytes(repeating: 0, count: 8) + little(7) + Bytes(repeating: 0, count: 8)
        return head + [UInt8(lengths.count)] + lengths + packets.flatMap(\.self)
    }

    @Test func commentsOfOpus() throws {
        let long = String(repeating: "y", count: 300)
        let comment = Array("TITLE=\(long)".utf8)
        let tags = Array("OpusTags".utf8) + Self.little(0) + Self.little(1) + Self.little(comment.count) + comment
        let file = Self.page(2, [Array("OpusHead".utf8)]) + Self.page(0, [tags]) + Self.page(4, [[1, 2, 3]])
        let read = try CommentHeaders(ArrayByteSource(file), format: .ogg).items(ofStream: 0)
        #expect(read == [MetadataItem(.vorbisTitle, .text(long))])
    }

    @Test func damageIsNoTrap() throws {
        let tag = Self.tag(
            4,
            Self.frame(
                "APIC", [1] + Array("image/png".utf8) + [0, 3, 0xFF, 0xFE, 0x41, 0, 0, 0, 1, 2], isSynchsafe: true)
                + Self.frame(
                    "COMM", [1] + Array("deu".utf8) + [0xFF, 0xFE, 0, 0, 0xFF, 0xFE, 0x41, 0], isSynchsafe: true)
                + Self.frame("POPM", [0x61, 0, 200], isSynchsafe: true))
        for bytes in [tag, Self.comments] {
            for count in 0..<bytes.count {
                var cut = Array(bytes.prefix(count))
                _ = try items(cut)
                for format in [ContainerFormat.flac, .ogg] {
                    _ = try CommentHeaders(ArrayByteSource(cut), format: format).items(ofStream: 0)
                }
                cut = bytes
                cut[count] = 0xFF
                _ = try items(cut)
                _ = try CommentHeaders(ArrayByteSource(cut), format: .flac).items(ofStream: 0)
            }
        }
    }
}
