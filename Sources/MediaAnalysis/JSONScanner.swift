internal import MediaBase

/// Reads the little of JSON that a peaks file has: one object of whole numbers and one array of them.
///
/// Memory is bounded by the input: an array holds at most half as many numbers as there are bytes. Nothing nests.
struct JSONScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    func failure(_ what: String) -> MediaError {
        MediaError(.damaged, "the peaks file \(what), at byte \(position)")
    }

    /// Whether only blanks are left.
    var isAtEnd: Bool { bytes[position...].allSatisfy(Self.isBlank) }

    private mutating func skipBlanks() {
        while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
    }

    /// Takes the character if it comes next.
    mutating func take(_ character: Unicode.Scalar) throws(MediaError) -> Bool {
        skipBlanks()
        guard position < bytes.count else { throw failure("ends too early") }
        guard UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    /// Takes the character, which must come next.
    mutating func expect(_ character: Unicode.Scalar) throws(MediaError) {
        guard try take(character) else { throw failure("has something else where \(character) belongs") }
    }

    /// Takes a key of at most 64 plain ASCII characters.
    mutating func key() throws(MediaError) -> String {
        try expect("\"")
        var key = ""
        while position < bytes.count, key.utf8.count <= 64 {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return key }
            guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { break }
            key.unicodeScalars.append(Unicode.Scalar(byte))
        }
        throw failure("has a key that is not a plain name")
    }

    /// Takes a whole number of at most 18 digits, which no addition here can overflow.
    @inline(__always)
    mutating func integer() throws(MediaError) -> Int {
        skipBlanks()
        var index = position
        let isNegative = index < bytes.count && bytes[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let start = index
        var value = 0
        while index < bytes.count, index - start < 18 {
            let digit = bytes[index] &- 48
            guard digit < 10 else { break }
            value = value &* 10 &+ Int(digit)
            index += 1
        }
        let digits = index - start
        let goesOn = index < bytes.count && (Self.isPartOfNumber(bytes[index]))
        guard digits > 0, !goesOn, digits == 1 || bytes[start] != 48 else {
            throw failure("has something else where a whole number belongs")
        }
        position = index
        return isNegative ? -value : value
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: false
        }
    }

    /// Takes an array of whole numbers of 16 bits.
    mutating func int16Array() throws(MediaError) -> [Int16] {
        try expect("[")
        var values: [Int16] = []
        if try take("]") { return values }
        repeat {
            guard let value = Int16(exactly: try integer()) else { throw failure("has a value beyond 16 bits") }
            guard values.count < Peaks.maximumValueCount else {
                throw MediaError(.limitExceeded, "the peaks file holds more than \(Peaks.maximumValueCount) values")
            }
            values.append(value)
        } while try take(",")
        try expect("]")
        return values
    }
}
