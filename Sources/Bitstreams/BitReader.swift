package import MediaBase

/// A position in a run of bits, most significant bit first, and the codes that video headers are written in.
///
/// Every read checks that the bits are there and throws `MediaError.Code.damaged` where they are not.
package struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Starts at the first bit of `bytes`.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// How many bits are not read yet.
    package var remaining: Int { bytes.count * 8 - position }

    /// Takes up to 32 bits as an unsigned number.
    package mutating func bits(_ count: Int) throws(MediaError) -> UInt32 {
        guard (0...32).contains(count), count <= remaining else { throw MediaError(.damaged, "ends too early") }
        var value: UInt32 = 0
        var left = count
        while left > 0 {
            let free = 8 - position % 8
            let taken = min(free, left)
            let byte = UInt32(bytes[position / 8])
            value = value << UInt32(taken) | byte >> UInt32(free - taken) & (1 << UInt32(taken) - 1)
            position += taken
            left -= taken
        }
        return value
    }

    /// Takes one bit.
    package mutating func flag() throws(MediaError) -> Bool { try bits(1) == 1 }

    /// Passes over any number of bits.
    package mutating func skip(_ count: Int) throws(MediaError) {
        guard count >= 0, count <= remaining else { throw MediaError(.damaged, "ends too early") }
        position += count
    }

    /// Takes an unsigned Exp-Golomb code: `ue(v)` of ITU-T H.264, 9.1.
    package mutating func unsigned() throws(MediaError) -> UInt32 {
        var zeros = 0
        while try !flag() {
            zeros += 1
            guard zeros < 32 else { throw MediaError(.damaged, "has an impossible number") }
        }
        return try (1 << UInt32(zeros) - 1) + bits(zeros)
    }

    /// Takes an unsigned Exp-Golomb code that can be no larger than `limit`.
    package mutating func unsigned(atMost limit: UInt32) throws(MediaError) -> Int {
        let value = try unsigned()
        guard value <= limit else { throw MediaError(.damaged, "has an impossible number") }
        return Int(value)
    }

    /// Takes a signed Exp-Golomb code: `se(v)` of ITU-T H.264, 9.1.1.
    package mutating func signed() throws(MediaError) -> Int64 {
        let code = Int64(try unsigned())
        return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
    }

    /// Takes a number of as many bits as the zeros before it tell: `uvlc()` of AV1, 4.10.3.
    package mutating func variableLength() throws(MediaError) -> UInt32 {
        var zeros = 0
        while try !flag() {
            zeros += 1
            if zeros >= 32 { return .max }
        }
        return try bits(zeros) + (1 << UInt32(zeros) - 1)
    }
}
