import MediaBase

// The values of timed metadata, and their bytes. QuickTime File Format, "Well-known types".

extension MetadataItem.DataType {
    /// The types that QuickTime's table has, by their numbers there.
    private static let numbered: [UInt32: Self] = [
        0: .raw, 1: .utf8, 2: .utf16, 13: .jpeg, 14: .png, 23: .float32, 24: .float, 27: .bmp, 65: .int8, 66: .int16,
        67: .int32, 70: .point, 71: .dimensions, 72: .rectangle, 74: .integer, 75: .uint8, 76: .uint16, 77: .uint32,
        78: .uint64, 79: .affineTransform, 80: .polygon,
    ]
    private static let numbers = [Self: UInt32](uniqueKeysWithValues: numbered.map { ($1, $0) })

    /// The beginning of the names of types for which there is only a number.
    private static let unnamed = "com.apple.quicktime.datatype."

    /// Creates the type with a number of QuickTime's table.
    init(quickTimeNumber number: UInt32) {
        self = Self.numbered[number] ?? Self(rawValue: Self.unnamed + "\(number)")
    }

    /// The number in QuickTime's table; `nil` for types that are stored by name.
    var quickTimeNumber: UInt32? {
        if let number = Self.numbers[self] { return number }
        return rawValue.hasPrefix(Self.unnamed) ? UInt32(rawValue.dropFirst(Self.unnamed.count)) : nil
    }

    /// The sizes in bytes of whole numbers, below 0 if they are signed.
    private static let wholeNumbers: [Self: Int] = [
        .int8: -1, .int16: -2, .int32: -4, .integer: -8, .uint8: 1, .uint16: 2, .uint32: 4, .uint64: 8,
    ]

    /// The possible numbers of numbers, and the size of each in bytes.
    private var numberList: (counts: ClosedRange<Int>, size: Int)? {
        switch self {
        case .point, .dimensions: (2...2, 4)
        case .rectangle: (4...4, 4)
        case .affineTransform: (9...9, 8)
        case .polygon: (2...200_000, 4)
        default: nil
        }
    }

    /// Interprets bytes; bytes that do not have the size of the type remain bytes.
    func value(_ bytes: ArraySlice<UInt8>) -> MetadataItem.Value {
        if let (counts, size) = numberList {
            guard bytes.count % size == 0, counts.contains(bytes.count / size) else { return .data(Array(bytes)) }
            let starts = stride(from: bytes.startIndex, to: bytes.endIndex, by: size)
            return .numbers(
                starts.map { start in
                    let bits = bytes[start..<start + size].bigEndian
                    return size == 8
                        ? Double(bitPattern: bits) : Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
                })
        }
        switch self {
        case .date: return .date(text(bytes))
        case .location: return .location(text(bytes))
        default: break
        }
        if let size = Self.wholeNumbers[self], abs(size) != bytes.count { return .data(Array(bytes)) }
        let number = quickTimeNumber
        let entry = number.flatMap { MetadataEntry(key: .named(""), type: $0, language: nil, bytes: bytes) }
        return entry?.value ?? .data(Array(bytes))
    }

    /// Returns the bytes of a value; `nil` if the type cannot hold it.
    func bytes(of value: MetadataItem.Value) -> [UInt8]? {
        if let (counts, size) = numberList {
            guard case .numbers(let numbers) = value, counts.contains(numbers.count) else { return nil }
            var bytes: [UInt8] = []
            for number in numbers {
                if size == 8 {
                    bytes.append(bigEndian: number.bitPattern)
                } else {
                    bytes.append(bigEndian: Float(number).bitPattern)
                }
            }
            return bytes
        }
        if let size = Self.wholeNumbers[self] { return Self.wholeNumber(value, size: abs(size), isSigned: size < 0) }
        var bytes: [UInt8] = []
        switch self {
        case .float32, .float:
            guard let number = value.number else { return nil }
            if self == .float {
                bytes.append(bigEndian: number.bitPattern)
            } else {
                bytes.append(bigEndian: Float(number).bitPattern)
            }
            return bytes
        case .utf16:
            for unit in value.text?.utf16 ?? "".utf16 { bytes.append(bigEndian: unit) }
            return value.text == nil ? nil : bytes
        case .utf8, .date, .location: return value.text.map { Array($0.utf8) }
        case .raw, .jpeg, .png, .bmp, .gif: return value.data
        default: return value.data ?? value.text.map { Array($0.utf8) }
        }
    }

    /// Returns the bytes of a whole number; `nil` if it does not fit.
    private static func wholeNumber(_ value: MetadataItem.Value, size: Int, isSigned: Bool) -> [UInt8]? {
        let bits: UInt64
        switch value {
        case .integer(let number):
            let half = Int64(1) << Int64(8 * min(size, 7) - 1)
            let isHeld = isSigned ? (-half..<half).contains(number) : (0..<2 * half).contains(number)
            guard isHeld || size == 8 && (isSigned || number >= 0) else { return nil }
            bits = UInt64(bitPattern: number)
        case .float(let number):
            guard let whole = Int64(exactly: number) else { return nil }
            return wholeNumber(.integer(whole), size: size, isSigned: isSigned)
        // Numbers of more than 63 bits are read as text.
        case .text(let digits) where !isSigned && size == 8:
            guard let number = UInt64(digits) else { return nil }
            bits = number
        default: return nil
        }
        var bytes: [UInt8] = []
        bytes.append(bigEndian: bits)
        return Array(bytes.suffix(size))
    }
}
