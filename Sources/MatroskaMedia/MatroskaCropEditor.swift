package import MediaBase

/// The pixels to crop from each side of a picture before it is shown (PixelCropLeft …, RFC 9559, 5.1.4.1.28.18).
package struct MatroskaCrop: Hashable, Sendable {
    /// The part of the stored picture that remains.
    package let rectangle: PixelRectangle
    /// The ratio of a pixel's width to its height.
    package let pixelAspect: Rational

    /// Creates a crop.
    package init(_ rectangle: PixelRectangle, pixelAspect: Rational) {
        self.rectangle = rectangle
        self.pixelAspect = pixelAspect
    }
}

/// Adds crops, which libavformat 5.1 does not write, to the track list of a finished Matroska file.
///
/// The crops use space from the void element that libavformat's muxer leaves after the seek head. The elements between
/// the void and the track list move towards the start of the file. Nothing after the track list moves.
package enum MatroskaCropEditor {
    private typealias Bytes = ArraySlice<UInt8>

    /// An element and its location.
    private struct Part {
        let id: EBMLID
        /// The header and content.
        let bytes: Bytes
        let content: Bytes
    }

    /// Adds crops to the track list at the start of a file.
    ///
    /// - Parameters:
    ///   - crops: The parts of the pictures that remain, by the track's index in the list.
    ///   - bytes: The start of the file, including the whole track list.
    /// - Returns: The replacement for `bytes`, with the same size; `nil` if there is not enough space or the track list
    ///   is not as expected.
    package static func adding(_ crops: [Int: MatroskaCrop], to bytes: [UInt8]) -> [UInt8]? {
        guard let head = EBMLHeader(bytes), let headSize = head.size.flatMap({ Int(exactly: $0) }),
            case let start = head.headerSize + headSize, start < bytes.count,
            let segment = EBMLHeader(bytes[start...]), segment.id == 0x18538067
        else { return nil }
        let content = start + segment.headerSize
        var parts: [Part] = []
        for part in self.parts(of: bytes[content...]) {
            parts.append(part)
            if part.id == 0x1654AE6B { break }
        }
        guard let list = parts.last, list.id == 0x1654AE6B, let void = parts.first(where: { $0.id == 0xEC }),
            let made = trackList(list, crops), case let growth = made.count - list.bytes.count, growth > 0,
            void.bytes.count >= growth + 16
        else { return nil }
        let moved = void.bytes.endIndex..<list.bytes.endIndex
        var result = Array(bytes[..<void.bytes.startIndex])
        result += element(0xEC, [UInt8](repeating: 0, count: void.bytes.count - growth - 9), sizeLength: 8)
        result += bytes[moved.lowerBound..<list.bytes.startIndex] + made + bytes[list.bytes.endIndex...]
        guard let seekHead = parts.first(where: { $0.id == 0x114D9B74 }), seekHead.bytes.endIndex <= moved.lowerBound
        else { return result }
        let places = moved.lowerBound - content..<moved.upperBound - content
        guard let corrected = self.seekHead(seekHead, moving: places, by: growth) else { return nil }
        result.replaceSubrange(seekHead.content.startIndex..<seekHead.content.endIndex, with: corrected)
        return result
    }

    private static func parts(of bytes: Bytes) -> [Part] {
        var parts: [Part] = []
        var rest = bytes
        while parts.count < 10_000, let header = EBMLHeader(rest), let size = header.size.flatMap({ Int(exactly: $0) }),
            size <= rest.count - header.headerSize
        {
            let end = rest.startIndex + header.headerSize + size
            parts.append(
                Part(
                    id: header.id, bytes: rest[rest.startIndex..<end],
                    content: rest[rest.startIndex + header.headerSize..<end]))
            rest = rest[end...]
        }
        return parts
    }

    private static func trackList(_ list: Part, _ crops: [Int: MatroskaCrop]) -> [UInt8]? {
        var place = -1
        var content: [UInt8] = []
        for part in parts(of: list.content) {
            guard part.id == 0xAE else {
                content += part.bytes
                continue
            }
            place += 1
            guard let crop = crops[place] else {
                content += part.bytes
                continue
            }
            var fields: [UInt8] = []
            for field in parts(of: part.content) {
                fields += field.id == 0xE0 ? element(0xE0, video(field.content, crop)) : Array(field.bytes)
            }
            content += element(0xAE, fields)
        }
        return element(0x1654AE6B, withSum(content))
    }

    private static func video(_ content: Bytes, _ crop: MatroskaCrop) -> [UInt8] {
        let fields = parts(of: content)
        func number(_ id: EBMLID) -> Int {
            fields.first { $0.id == id }.map { $0.content.prefix(4).reduce(0) { $0 << 8 | Int($1) } } ?? 0
        }
        let rectangle = crop.rectangle
        var numbers: [(EBMLID, Int)] = [
            (0x54CC, rectangle.x), (0x54BB, rectangle.y), (0x54DD, number(0xB0) - rectangle.x - rectangle.width),
            (0x54AA, number(0xBA) - rectangle.y - rectangle.height),
        ]
        // The display size applies to the cropped picture; without one, pixels are square.
        if crop.pixelAspect != .one,
            let width = Rational(Int64(rectangle.width)).multiplied(by: crop.pixelAspect)?.rounded()
        {
            numbers += [(0x54B0, Int(clamping: width)), (0x54BA, rectangle.height)]
        }
        let replaced: Set<EBMLID> = [0x54CC, 0x54BB, 0x54DD, 0x54AA, 0x54B0, 0x54BA]
        return fields.filter { !replaced.contains($0.id) }.flatMap(\.bytes)
            + numbers.flatMap { id, value -> [UInt8] in
                element(id, (0..<4).map { UInt8(truncatingIfNeeded: max(0, value) >> (24 - 8 * $0)) })
            }
    }

    /// Returns the content of a seek head, with the positions within `places` reduced by `distance`.
    private static func seekHead(_ head: Part, moving places: Range<Int>, by distance: Int) -> [UInt8]? {
        var content = Array(head.content)
        let start = head.content.startIndex
        for entry in parts(of: head.content) where entry.id == 0x4DBB {
            guard let field = parts(of: entry.content).first(where: { $0.id == 0x53AC }), field.content.count <= 8,
                let place = Int(exactly: field.content.bigEndian)
            else { return nil }
            guard places.contains(place) else { continue }
            for (index, at) in field.content.indices.enumerated() {
                let shift = 8 * (field.content.count - 1 - index)
                content[at - start] = UInt8(truncatingIfNeeded: (place - distance) >> shift)
            }
        }
        return withSum(content)
    }

    /// Returns an element whose size field takes one byte if the size fits, otherwise eight.
    private static func element(_ id: EBMLID, _ content: [UInt8], sizeLength: Int = 1) -> [UInt8] {
        var bytes = (0..<4).map { UInt8(truncatingIfNeeded: id.rawValue >> (24 - 8 * UInt32($0))) }
        bytes.removeFirst(id.rawValue.leadingZeroBitCount / 8)
        if sizeLength == 1, content.count < 0x7F { return bytes + [0x80 | UInt8(content.count)] + content }
        let size = 1 << 56 | UInt64(content.count)
        return bytes + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * UInt64($0))) } + content
    }

    /// Returns the content with an updated checksum if it starts with one (CRC-32, RFC 8794, 11.3.1).
    private static func withSum(_ content: [UInt8]) -> [UInt8] {
        guard content.starts(with: [0xBF, 0x84]), content.count >= 6 else { return content }
        var sum = UInt32.max
        for byte in content[6...] {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xEDB8_8320 }
        }
        sum = ~sum
        return content[..<2] + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * UInt32($0))) } + content[6...]
    }
}
