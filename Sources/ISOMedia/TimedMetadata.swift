package import MediaBase

/// The keys of a track of timed metadata (`mebx`), by the local IDs that the boxes of its samples have.
///
/// QuickTime File Format, "Timed metadata media": the table (`keys`) in the sample entry has one box a key, whose type is
/// the local ID; ISO/IEC 14496-12, 12.9 (MetadataKeyTableBox).
package struct TimedMetadataKeys: Hashable, Sendable {
    /// One key of the table.
    package struct Key: Hashable, Sendable {
        /// The type of the boxes with the key's values.
        package var localID: UInt32
        /// The key, and the type and language of its values.
        package var specification: MetadataSpecification
    }

    /// The keys, in the order of the table.
    package private(set) var keys: [Key] = []
    /// The place of each key in ``keys``, by its local ID.
    private var places: [UInt32: Int] = [:]

    /// The maximum number of keys.
    private static let maximumKeys = 10_000
    /// The vocabularies whose keys are four bytes, which need not be text.
    private static let fourByteSpaces: Set<MetadataKeySpace> = [.iTunes, .quickTimeUserData, .isoUserData]

    /// Returns the key with a local ID; `nil` if there is none.
    package subscript(localID: UInt32) -> Key? { places[localID].map { keys[$0] } }

    /// Returns the key of an item: that with its identifier and language, if possible with its type; `nil` if there is
    /// none.
    package func key(of item: MetadataItem) -> Key? {
        let named = keys.filter {
            $0.specification.identifier == item.identifier && $0.specification.language == item.language
        }
        return named.first { $0.specification.dataType == item.dataType } ?? named.first
    }
}

// MARK: - From bytes

extension TimedMetadataKeys {
    /// Reads the table in the fields that a sample entry of type `mebx` has of its own.
    ///
    /// Keys that are marked as unused or state no name are passed over, and of several with one local ID, all but the
    /// first.
    /// - Throws: `damaged` if there is no table, or the sizes of its boxes are wrong.
    package init(sampleEntryFields fields: [UInt8]) throws(MediaError) {
        guard let table = try BoxSlice.list(fields[...]).first(where: { $0.type == "keys" }) else {
            throw MediaError(.damaged, "the description of the timed metadata has no table of keys")
        }
        for box in try BoxSlice.list(table.payload).prefix(Self.maximumKeys) {
            let localID = box.type.rawValue
            guard localID != 0, localID != .max, places[localID] == nil,
                let specification = try Self.specification(box.payload)
            else { continue }
            places[localID] = keys.count
            keys.append(Key(localID: localID, specification: specification))
        }
    }

    /// Reads the box of one key; `nil` if it does not declare any.
    private static func specification(_ bytes: ArraySlice<UInt8>) throws(MediaError) -> MetadataSpecification? {
        var identifier: MetadataIdentifier?
        var type = MetadataItem.DataType.raw
        var language: String?
        for box in try BoxSlice.list(bytes) {
            let rest = box.payload.dropFirst(4)
            switch box.type {
            case "keyd" where !rest.isEmpty:
                let space = MetadataKeySpace(rawValue: FourCC(rawValue: UInt32(box.payload.prefix(4).bigEndian)).text)
                let isCode = rest.count == 4 && Self.fourByteSpaces.contains(space)
                let key = isCode ? FourCC(rawValue: UInt32(rest.bigEndian)).text : text(rest)
                identifier = MetadataIdentifier(keySpace: space, key: key)
            case "dtyp" where box.payload.count >= 4:
                // A number of QuickTime's table, or a name.
                if box.payload.prefix(4).bigEndian == 0 {
                    guard rest.count == 4 else { continue }
                    type = MetadataItem.DataType(quickTimeNumber: UInt32(rest.bigEndian))
                } else {
                    type = MetadataItem.DataType(rawValue: text(rest))
                }
            case "loca":
                let tag = text(box.payload)
                language = tag.isEmpty ? nil : tag
            default: continue
            }
        }
        return identifier.map { MetadataSpecification($0, dataType: type, language: language) }
    }

    /// The items of a sample, and what of it could not be read.
    package struct Sample: Hashable, Sendable {
        /// The items with a key that is known, in their order.
        package var items: [MetadataItem] = []
        /// The number of values that were passed over, because no key has their local ID or because there are too many.
        package var skippedCount = 0
        /// True if the sizes of the boxes do not fit the sample; the items before that place are there.
        package var isDamaged = false
    }

    /// The maximum number of items of one sample.
    private static let maximumItems = 10_000

    /// Reads a sample: boxes of values, whose types are the local IDs of their keys.
    ///
    /// A box with a local ID of 0 has no value: alone, it is the sample of a time without metadata.
    package func sample(_ bytes: [UInt8]) -> Sample {
        var sample = Sample()
        let isWhole = BoxSlice.read(bytes[...]) { box in
            guard box.type.rawValue != 0 else { return }
            guard let key = self[box.type.rawValue], sample.items.count < Self.maximumItems else {
                sample.skippedCount += 1
                return
            }
            let specification = key.specification
            var item = MetadataItem(
                specification.identifier, specification.dataType.value(box.payload), language: specification.language)
            item.dataType = specification.dataType
            sample.items.append(item)
        }
        sample.isDamaged = !isWhole
        return sample
    }
}

/// A box in memory, whose payload is not copied.
private struct BoxSlice {
    let type: FourCC
    let payload: ArraySlice<UInt8>

    /// Calls `body` for each box of a sequence; returns false if a size does not fit, after the boxes before.
    static func read(_ bytes: ArraySlice<UInt8>, _ body: (BoxSlice) -> Void) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            guard rest.count >= 8 else { return false }
            let size = Int(rest.prefix(4).bigEndian)
            guard size >= 8, size <= rest.count else { return false }
            let type = FourCC(rawValue: UInt32(rest.dropFirst(4).prefix(4).bigEndian))
            body(BoxSlice(type: type, payload: rest.prefix(size).dropFirst(8)))
            rest = rest.dropFirst(size)
        }
        return true
    }

    /// Returns the boxes of a sequence.
    ///
    /// - Throws: `damaged` if a size does not fit.
    static func list(_ bytes: ArraySlice<UInt8>) throws(MediaError) -> [BoxSlice] {
        var boxes: [BoxSlice] = []
        guard read(bytes, { boxes.append($0) }) else {
            throw MediaError(.damaged, "the boxes in the description of the timed metadata do not add up")
        }
        return boxes
    }
}

// MARK: - To bytes

extension TimedMetadataKeys {
    /// The sample of a time without metadata: a box of a key that is unused, without a value.
    package static let emptySample: [UInt8] = [0, 0, 0, 8, 0, 0, 0, 0]

    /// Creates the table of specifications, with local IDs from 1 on.
    ///
    /// - Throws: `invalidArgument` without specifications, for one that is there twice, and for a key space without a
    ///   name of four characters.
    package init(_ specifications: [MetadataSpecification]) throws(MediaError) {
        guard (1...Self.maximumKeys).contains(specifications.count) else {
            throw MediaError(.invalidArgument, "timed metadata needs 1 to \(Self.maximumKeys) keys")
        }
        var known: Set<MetadataSpecification> = []
        for (place, specification) in specifications.enumerated() {
            let (identifier, localID) = (specification.identifier, UInt32(place + 1))
            guard known.insert(specification).inserted else {
                throw MediaError(.invalidArgument, "the key \(identifier) of timed metadata is there twice")
            }
            let space = identifier.keySpace.rawValue.utf8
            guard space.count == 4, space.allSatisfy({ (0x20...0x7E).contains($0) }), !identifier.key.isEmpty else {
                throw MediaError(
                    .invalidArgument,
                    "\(identifier) cannot be a key of timed metadata, whose key spaces have four characters, such as mdta"
                )
            }
            places[localID] = keys.count
            keys.append(Key(localID: localID, specification: specification))
        }
    }

    /// The fields of a sample entry of type `mebx`: the table.
    package var sampleEntryFields: [UInt8] {
        let boxes = keys.map { key in
            let specification = key.specification
            let identifier = specification.identifier
            let scalars = identifier.key.unicodeScalars
            let isCode = scalars.count == 4 && Self.fourByteSpaces.contains(identifier.keySpace)
            let code = isCode ? scalars.compactMap { UInt8(exactly: $0.value) } : []
            let name = code.count == 4 ? code : Array(identifier.key.utf8)
            var parts = [EditableBox("keyd", Array(identifier.keySpace.rawValue.utf8) + name)]
            var type: [UInt8] = []
            if let number = specification.dataType.quickTimeNumber {
                type.append(bigEndian: UInt32(0))
                type.append(bigEndian: number)
            } else {
                type.append(bigEndian: UInt32(1))
                type += Array(specification.dataType.rawValue.utf8)
            }
            parts.append(EditableBox("dtyp", type))
            if let language = specification.language { parts.append(EditableBox("loca", Array(language.utf8) + [0])) }
            return EditableBox(FourCC(rawValue: key.localID), holding: parts)
        }
        return EditableBox("keys", holding: boxes).bytes
    }

    /// Returns the sample with the values of items; ``emptySample`` if there are none.
    ///
    /// - Throws: `invalidArgument` for an item without a key, and for a value that the type of its key cannot hold.
    package func sample(of items: [MetadataItem]) throws(MediaError) -> [UInt8] {
        guard !items.isEmpty else { return Self.emptySample }
        guard items.count <= Self.maximumItems else {
            throw MediaError(.limitExceeded, "a group of timed metadata has at most \(Self.maximumItems) items")
        }
        var bytes: [UInt8] = []
        for item in items {
            guard let key = key(of: item) else {
                let language = item.language.map { " in the language \($0)" } ?? ""
                throw MediaError(
                    .invalidArgument, "the format of the timed metadata has no key \(item.identifier)\(language)")
            }
            let type = key.specification.dataType
            guard let value = type.bytes(of: item.value) else {
                throw MediaError(.invalidArgument, "the value of \(item.identifier) cannot be stored as \(type)")
            }
            EditableBox(FourCC(rawValue: key.localID), value).write(to: &bytes)
        }
        return bytes
    }
}
