/// A source of bytes that can be read at any offset: a file, memory, a database, a network.
///
/// It is AVFoundation's `AVAssetResourceLoader`, and corresponds to `pread(2)`: reads move no position, so several readers
/// of the same source do not disturb each other.
///
/// ```swift
/// struct Blob: ByteSource {
///     let database: Database, key: String
///     var size: UInt64? { database.length(of: key) }
///     func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] { try database.bytes(of: key, offset, count) }
/// }
/// let asset = Asset(source: Blob(database: database, key: "interview"), name: "interview")
/// ```
///
/// The methods are called from any thread, from several at once, and never on Swift's cooperative threads, so they may
/// block. Bytes are asked for ahead of their readers and kept, at most 64 MiB, so that a slow source is asked for few and
/// large parts. A reader that is cancelled or late does not wait for a call to return.
public protocol ByteSource: Sendable {
    /// Prepares reading, for a source that has to be found first: on a server, in a database.
    ///
    /// It is called before everything else whenever the source is opened, from any thread. The default does nothing.
    ///
    /// - Throws: `MediaError` if the source cannot be read, which ends the work on the asset with this error.
    func open() throws(MediaError)

    /// The number of bytes; `nil` if it is unknown, and the bytes are then read once, in order, as those of a pipe.
    var size: UInt64? { get }

    /// The entity tag, which another version of the bytes does not have (RFC 9110, 8.8.3); `nil` if there is none.
    ///
    /// It is asked for after ``open()``. `ingest --resume` makes all again if it is another. The default is `nil`.
    var entityTag: String? { get }

    /// Reads bytes starting at `offset`.
    ///
    /// - Parameters:
    ///   - offset: The offset of the first byte, from the start of the source.
    ///   - count: The number of bytes to read: from some KiB up to 32 MiB.
    /// - Returns: `count` bytes; fewer if the source ends before that, and none at or past its end. More are ignored.
    /// - Throws: `MediaError` if reading fails, which ends the work on the asset with this error. Reaching the end of the
    ///   source is not an error.
    func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8]
}

extension ByteSource {
    /// Does nothing.
    public func open() throws(MediaError) {}

    /// No tag.
    public var entityTag: String? { nil }
}

/// A byte source backed by an array.
package struct ArrayByteSource: ByteSource {
    /// The bytes.
    package let bytes: [UInt8]

    /// Creates a source of bytes in memory.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bytes.
    package var size: UInt64? { UInt64(bytes.count) }

    /// Reads bytes starting at `offset`; fewer than `count` at the end.
    package func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        guard let start = Int(exactly: offset), start < bytes.count, count > 0 else { return [] }
        return Array(bytes[start...].prefix(count))
    }
}

/// A cursor over a payload that reads big-endian integers.
///
/// Every read throws `MediaError.Code.damaged` if too few bytes are left; it then consumes nothing.
package struct BigEndianReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Irregularities found in the payload that did not prevent reading it.
    package private(set) var notes: [String] = []

    /// Creates a reader positioned at the first of `bytes`.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of unread bytes.
    package var remaining: Int { bytes.count - position }

    /// The next byte, which is not consumed; `nil` at the end.
    package var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Records an irregularity that is no reason to reject the payload.
    package mutating func note(_ text: String) { notes.append(text) }

    /// Reads the next `count` bytes.
    package mutating func take(_ count: Int) throws(MediaError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else { throw MediaError(.damaged, "ends too early") }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Reads all remaining bytes.
    package mutating func takeRest() -> ArraySlice<UInt8> {
        defer { position = bytes.count }
        return bytes[position...]
    }

    /// Skips `count` bytes.
    package mutating func skip(_ count: Int) throws(MediaError) { _ = try take(count) }

    /// Reads one byte.
    package mutating func uint8() throws(MediaError) -> UInt8 { UInt8(truncatingIfNeeded: try number(1)) }

    /// Reads two bytes as an unsigned integer.
    package mutating func uint16() throws(MediaError) -> UInt16 { UInt16(truncatingIfNeeded: try number(2)) }

    /// Reads four bytes as an unsigned integer.
    package mutating func uint32() throws(MediaError) -> UInt32 { UInt32(truncatingIfNeeded: try number(4)) }

    /// Reads eight bytes as an unsigned integer.
    package mutating func uint64() throws(MediaError) -> UInt64 { try number(8) }

    /// Reads two bytes as a signed integer.
    package mutating func int16() throws(MediaError) -> Int16 { Int16(bitPattern: try uint16()) }

    /// Reads four bytes as a signed integer.
    package mutating func int32() throws(MediaError) -> Int32 { Int32(bitPattern: try uint32()) }

    /// Reads eight bytes as a signed integer.
    package mutating func int64() throws(MediaError) -> Int64 { Int64(bitPattern: try uint64()) }

    private mutating func number(_ count: Int) throws(MediaError) -> UInt64 {
        var value: UInt64 = 0
        for byte in try take(count) { value = value << 8 | UInt64(byte) }
        return value
    }
}

extension Sequence<UInt8> {
    /// The bytes as one number, the most significant first; only the last eight count.
    package var bigEndian: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes as one number, the least significant first; only the first eight count.
    package var littleEndian: UInt64 { reversed().bigEndian }
}
