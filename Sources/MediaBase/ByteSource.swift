/// Bytes that can be read at any offset: a file, or an array in a test.
///
/// Reads never move a position, so that a box reader and another user of the same file do not disturb each other.
/// The C call this stands for is `pread(2)`.
package protocol ByteSource {
    /// The number of bytes, or `nil` where it is not known.
    var size: UInt64? { get }

    /// Reads the bytes from `offset` on.
    ///
    /// - Parameters:
    ///   - offset: Where to begin, from the start of the source.
    ///   - count: How many bytes to read; a reader asks for no more than its limits allow.
    /// - Returns: `count` bytes, or fewer only where the source ends; none at or past the end.
    /// - Throws: `MediaError` where the system failed to read. The end of the source is no error.
    func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8]
}

/// A byte source over an array.
package struct ArrayByteSource: ByteSource {
    /// The bytes.
    package let bytes: [UInt8]

    /// Makes a source of bytes in memory.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bytes.
    package var size: UInt64? { UInt64(bytes.count) }

    /// Reads the bytes from `offset` on, fewer than `count` at the end.
    package func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        guard let start = Int(exactly: offset), start < bytes.count, count > 0 else { return [] }
        return Array(bytes[start...].prefix(count))
    }
}

/// A position in a payload, and the big-endian numbers read from there.
///
/// Every read checks that the bytes are there and throws `MediaError.Code.damaged` where they are not; nothing is
/// consumed then.
package struct BigEndianReader {
    private let bytes: [UInt8]
    private var position = 0

    /// What was odd about the payload, but did not keep it from being read.
    package private(set) var notes: [String] = []

    /// Starts at the first of `bytes`.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bytes not read yet.
    package var remaining: Int { bytes.count - position }

    /// The next byte without consuming it; `nil` at the end.
    package var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Records something odd that is no reason to give the payload up.
    package mutating func note(_ text: String) { notes.append(text) }

    /// Takes the next `count` bytes.
    package mutating func take(_ count: Int) throws(MediaError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else { throw MediaError(.damaged, "ends too early") }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Takes all bytes that remain.
    package mutating func takeRest() -> ArraySlice<UInt8> {
        defer { position = bytes.count }
        return bytes[position...]
    }

    /// Passes over `count` bytes.
    package mutating func skip(_ count: Int) throws(MediaError) { _ = try take(count) }

    /// Takes one byte.
    package mutating func uint8() throws(MediaError) -> UInt8 { UInt8(truncatingIfNeeded: try number(1)) }

    /// Takes two bytes as an unsigned number.
    package mutating func uint16() throws(MediaError) -> UInt16 { UInt16(truncatingIfNeeded: try number(2)) }

    /// Takes four bytes as an unsigned number.
    package mutating func uint32() throws(MediaError) -> UInt32 { UInt32(truncatingIfNeeded: try number(4)) }

    /// Takes eight bytes as an unsigned number.
    package mutating func uint64() throws(MediaError) -> UInt64 { try number(8) }

    /// Takes two bytes as a signed number.
    package mutating func int16() throws(MediaError) -> Int16 { Int16(bitPattern: try uint16()) }

    /// Takes four bytes as a signed number.
    package mutating func int32() throws(MediaError) -> Int32 { Int32(bitPattern: try uint32()) }

    /// Takes eight bytes as a signed number.
    package mutating func int64() throws(MediaError) -> Int64 { Int64(bitPattern: try uint64()) }

    private mutating func number(_ count: Int) throws(MediaError) -> UInt64 {
        var value: UInt64 = 0
        for byte in try take(count) { value = value << 8 | UInt64(byte) }
        return value
    }
}
