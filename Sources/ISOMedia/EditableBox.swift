package import MediaBase

/// A box of a movie's header, parsed deeply enough to be edited and written again.
///
/// Unchanged parts are written byte for byte. ISO/IEC 14496-12, 4.2.
package struct EditableBox: Sendable {
    /// The box type.
    package var type: FourCC
    /// The bytes between the header and the child boxes; the whole payload if there are no parsed children.
    package var fields: [UInt8]
    /// The child boxes, in order; `nil` if the payload was not parsed into boxes.
    package var children: [EditableBox]?

    /// Creates a box without child boxes.
    package init(_ type: FourCC, _ fields: [UInt8]) {
        self.type = type
        self.fields = fields
    }

    /// Creates a box that contains only child boxes.
    package init(_ type: FourCC, holding children: [EditableBox]) {
        self.type = type
        fields = []
        self.children = children
    }

    private static let depthLimit = 12

    /// Parses bytes that consist of exactly one box.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if the sizes of the boxes are inconsistent.
    package init(parsing bytes: [UInt8]) throws(MediaError) {
        let boxes = try Self.list(bytes[...], in: nil, depth: 0)
        guard let box = boxes.first, boxes.count == 1 else {
            throw MediaError(.damaged, "the movie's header is not one box")
        }
        self = box
    }

    /// Parses a sequence of boxes.
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
                // QuickTime ends a list of user data with four zero bytes.
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

    /// The number of bytes before the child boxes; `nil` for a box that is kept whole.
    private static func fieldBytes(of type: FourCC, in parent: FourCC?) -> Int? {
        switch type {
        case "moov", "trak", "mdia", "minf", "stbl", "edts", "tapt", "tref": 0
        case "stsd": 8
        default: nil
        }
    }

    /// Appends the serialized box to `bytes`.
    package func write(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(bigEndian: UInt32(0))
        bytes.append(bigEndian: type.rawValue)
        bytes += fields
        for child in children ?? [] { child.write(to: &bytes) }
        // A movie header is far smaller than 4 GB.
        let size = UInt32(clamping: bytes.count - start)
        for place in 0..<4 { bytes[start + place] = UInt8(truncatingIfNeeded: size >> (24 - 8 * UInt32(place))) }
    }

    /// The serialized box.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// The index of the first child of a type; `nil` if there is none.
    package func firstIndex(of type: FourCC) -> Int? { children?.firstIndex { $0.type == type } }

    /// The first child of a type; `nil` if there is none.
    package func first(_ type: FourCC) -> EditableBox? { children?.first { $0.type == type } }

    /// Changes the box at a path of types, following the first child of each type.
    ///
    /// - Returns: True if the box exists.
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
    /// Appends a number in big-endian byte order.
    package mutating func append(bigEndian value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Overwrites the bytes at `place` with a number in big-endian byte order; does nothing if the number does not fit.
    package mutating func replace(at place: Int, bigEndian value: some FixedWidthInteger) {
        let count = value.bitWidth / 8
        guard place >= 0, place + count <= self.count else { return }
        for index in 0..<count {
            self[place + index] = UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - index)))
        }
    }
}

/// Edits the child boxes of a visual sample entry.
///
/// ISO/IEC 14496-12, 12.1.3: 78 bytes of fields, then boxes.
struct VisualSampleEntryEditor {
    /// The entry in its current state.
    private(set) var entry: EditableBox
    /// The stored size in pixels.
    let dimensions: Dimensions
    /// The ratio of a pixel's width to its height (`pasp`); 1 if not stated.
    let pixelAspect: Rational

    private static let fieldBytes = 78

    /// Parses a sample entry.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if the box is too short for a visual sample entry.
    init(_ box: EditableBox) throws(MediaError) {
        var reader = BigEndianReader(box.fields)
        try reader.skip(24)
        dimensions = Dimensions(width: Int(try reader.uint16()), height: Int(try reader.uint16()))
        try reader.skip(Self.fieldBytes - 28)
        // `trak` has no fields of its own, so it can wrap the child boxes for parsing.
        var wrapper = EditableBox("trak", []).bytes
        wrapper += reader.takeRest()
        // An entry that was edited before has its child boxes in `children`, not in `fields`.
        for child in box.children ?? [] { wrapper += child.bytes }
        wrapper.replace(at: 0, bigEndian: UInt32(clamping: wrapper.count))
        entry = EditableBox(box.type, Array(box.fields.prefix(Self.fieldBytes)))
        entry.children = try EditableBox(parsing: wrapper).children
        if let fields = entry.first("pasp")?.fields {
            var reader = BigEndianReader(fields)
            let ratio = Rational(Int64(try reader.uint32()), Int64(try reader.uint32()))
            pixelAspect = ratio.isPositive ? ratio : .one
        } else {
            pixelAspect = .one
        }
    }

    /// Adds Dolby Vision's configuration record if there is none.
    ///
    /// Dolby Vision Streams Within the ISO Base Media File Format, 3.2.
    mutating func addDolbyVision(_ record: HDRInfo.DolbyVisionConfiguration) {
        let names: [FourCC] = ["dvcC", "dvvC", "dvwC"]
        guard !names.contains(where: { entry.firstIndex(of: $0) != nil }) else { return }
        func flag(_ layer: String) -> Int { record.layers.contains(layer) ? 1 : 0 }
        // Version 1.0; 7 bits of profile, 6 of level, three flags; 4 bits of compatibility, and zeros.
        var bits = (record.profile & 0x7F) << 9 | (record.level & 0x3F) << 3
        bits |= flag("metadata") << 2 | flag("enhancement") << 1 | flag("base")
        var fields: [UInt8] = [1, 0, UInt8(truncatingIfNeeded: bits >> 8), UInt8(truncatingIfNeeded: bits)]
        fields.append(UInt8(truncatingIfNeeded: (record.compatibility & 0xF) << 4))
        fields += [UInt8](repeating: 0, count: 24 - fields.count)
        let name = record.profile > 10 ? names[2] : record.profile > 7 ? names[1] : names[0]
        let place = entry.firstIndex(of: "pasp") ?? entry.children?.count ?? 0
        entry.children?.insert(EditableBox(name, fields), at: min(place, 1))
    }

    /// Replaces the clean aperture (`clap`, 12.1.4).
    ///
    /// The aperture is positioned in the coded picture. The offsets written are relative to the picture that the entry
    /// states.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` if a fraction needs more than 32 bits.
    mutating func setCleanAperture(_ aperture: CleanAperture) throws(MediaError) {
        var fields: [UInt8] = []
        let stated = StatedPicture(dimensions, entry: entry.type, coded: aperture.pictureSize)
        let (across, down) = (
            aperture.horizontalOffset.subtracting(stated.across), aperture.verticalOffset.subtracting(stated.down)
        )
        for number in [aperture.width, aperture.height, across, down] {
            guard let number else { throw MediaError(.unsupported, "the clean aperture does not fit into 64 bits") }
            guard let num = Int32(exactly: number.num), let den = Int32(exactly: number.den) else {
                throw MediaError(.unsupported, "the clean aperture \(number) does not fit into 32 bits")
            }
            fields.append(bigEndian: num)
            fields.append(bigEndian: den)
        }
        let box = EditableBox("clap", fields)
        entry.children?.removeAll { $0.type == "clap" }
        // The codec's configuration comes first; players expect `pasp` and `clap` after it.
        let place = entry.firstIndex(of: "pasp") ?? entry.children?.count ?? 0
        entry.children?.insert(box, at: place)
    }
}
