package import MediaBase

/// A box of a movie's header taken apart so far that it can be changed, and put together again.
///
/// What is not changed comes out byte for byte. ISO/IEC 14496-12, 4.2.
package struct EditableBox: Sendable {
    /// The type.
    package var type: FourCC
    /// The bytes after the header: all of them, or those before the boxes in it.
    package var fields: [UInt8]
    /// The boxes in it, in their order; `nil` where it holds none that matter.
    package var children: [EditableBox]?

    /// A box without others in it.
    package init(_ type: FourCC, _ fields: [UInt8]) {
        self.type = type
        self.fields = fields
    }

    /// A box that holds nothing but others.
    package init(_ type: FourCC, holding children: [EditableBox]) {
        self.type = type
        fields = []
        self.children = children
    }

    private static let depthLimit = 12

    /// Takes apart one box that fills the bytes.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` where the boxes do not add up.
    package init(parsing bytes: [UInt8]) throws(MediaError) {
        let boxes = try Self.list(bytes[...], in: nil, depth: 0)
        guard let box = boxes.first, boxes.count == 1 else {
            throw MediaError(.damaged, "the movie's header is not one box")
        }
        self = box
    }

    /// Takes apart boxes that follow each other.
    static func list(_ bytes: [UInt8]) throws(MediaError) -> [EditableBox] { try list(bytes[...], in: nil, depth: 0) }

    private static func list(_ bytes: ArraySlice<UInt8>, in parent: FourCC?, depth: Int) throws(MediaError)
        -> [EditableBox]
    {
        var boxes: [EditableBox] = []
        var rest = bytes
        while rest.count >= 8 {
            var reader = BigEndianReader(Array(rest.prefix(16)))
            var size = Int(clamping: try reader.uint32())
            let type = try reader.fourCC()
            var header = 8
            if size == 1 {
                size = Int(clamping: try reader.uint64())
                header = 16
            }
            guard size >= header, size <= rest.count else {
                // QuickTime ends a list of user data with four zeros.
                if type.rawValue == 0 { break }
                throw MediaError(.damaged, "the box \(type) does not add up")
            }
            let payload = rest.dropFirst(header).prefix(size - header)
            boxes.append(try EditableBox(type, payload, in: parent, depth: depth))
            rest = rest.dropFirst(size)
        }
        return boxes
    }

    private init(
        _ type: FourCC, _ payload: ArraySlice<UInt8>, in parent: FourCC?, depth: Int
    ) throws(MediaError) {
        self.type = type
        guard depth < Self.depthLimit, let count = Self.fieldBytes(of: type, in: parent), count <= payload.count else {
            fields = Array(payload)
            return
        }
        fields = Array(payload.prefix(count))
        children = try Self.list(payload.dropFirst(count), in: type, depth: depth + 1)
    }

    /// How many bytes come before the boxes in a box; `nil` for one that is kept whole.
    private static func fieldBytes(of type: FourCC, in parent: FourCC?) -> Int? {
        switch type {
        case "moov", "trak", "mdia", "minf", "stbl", "edts", "tapt": 0
        case "stsd": 8
        default: nil
        }
    }

    /// Appends the box as bytes.
    package func write(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(bigEndian: UInt32(0))
        bytes.append(bigEndian: type.rawValue)
        bytes += fields
        for child in children ?? [] { child.write(to: &bytes) }
        // A header of a movie is far from 4 GB.
        let size = UInt32(clamping: bytes.count - start)
        for place in 0..<4 { bytes[start + place] = UInt8(truncatingIfNeeded: size >> (24 - 8 * UInt32(place))) }
    }

    /// The box as bytes.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// The place of the first child of a type; `nil` where there is none.
    package func firstIndex(of type: FourCC) -> Int? { children?.firstIndex { $0.type == type } }

    /// The first child of a type; `nil` where there is none.
    package func first(_ type: FourCC) -> EditableBox? { children?.first { $0.type == type } }

    /// Changes the box that a path of types leads to, always by the first child of each type; gives whether it is there.
    @discardableResult
    package mutating func change(
        _ path: ArraySlice<FourCC>, _ body: (inout EditableBox) throws(MediaError) -> Void
    ) throws(MediaError) -> Bool {
        guard let type = path.first else {
            try body(&self)
            return true
        }
        guard let index = firstIndex(of: type) else { return false }
        return try children?[index].change(path.dropFirst(), body) ?? false
    }
}

extension [UInt8] {
    /// Appends a number with its highest byte first.
    package mutating func append(bigEndian value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Writes a number with its highest byte first over the bytes at a place, as far as there are any.
    package mutating func replace(at place: Int, bigEndian value: some FixedWidthInteger) {
        let count = value.bitWidth / 8
        guard place >= 0, place + count <= self.count else { return }
        for index in 0..<count {
            self[place + index] = UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - index)))
        }
    }
}
