import MediaBase

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
