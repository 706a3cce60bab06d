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

/// Changes the boxes behind the fields of a visual sample entry.
///
/// ISO/IEC 14496-12, 12.1.3: 78 bytes of fields, then boxes.
struct VisualSampleEntryEditor {
    /// The entry as it is now.
    private(set) var entry: EditableBox
    /// How many pixels are stored.
    let dimensions: Dimensions
    /// Width of a pixel by its height, by its `pasp`; 1 where there is none.
    let pixelAspect: Rational

    private static let fieldBytes = 78

    /// Takes an entry apart.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` where it is too short to be one.
    init(_ box: EditableBox) throws(MediaError) {
        var reader = BigEndianReader(box.fields)
        try reader.skip(24)
        dimensions = Dimensions(width: Int(try reader.uint16()), height: Int(try reader.uint16()))
        try reader.skip(Self.fieldBytes - 28)
        // Taken apart as the boxes of a box that has none of its own.
        var wrapper = EditableBox("trak", []).bytes
        wrapper += reader.takeRest()
        // An entry that was changed before has its boxes apart from its fields.
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

    /// Adds Dolby Vision's configuration record where there is none (Dolby Vision Streams Within the ISO Base Media File
    /// Format, 3.2).
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

    /// Puts a clean aperture in place of the one there is (12.1.4), which is placed in the coded picture, and written for
    /// the stated one.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` where a fraction has more than 32 bits.
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
        // The codec's own header comes first, and players expect pasp and clap behind it.
        let place = entry.firstIndex(of: "pasp") ?? entry.children?.count ?? 0
        entry.children?.insert(box, at: place)
    }
}
