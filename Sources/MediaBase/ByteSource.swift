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
