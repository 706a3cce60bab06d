package import MediaBase
import SystemCalls
package import SystemPackage

/// Writes the parts of a message one after the other.
///
/// Numbers have eight bytes, the lowest first; texts and bytes are preceded by their count.
package struct MessageWriter {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty message.
    package init() {}

    /// Writes a number.
    package mutating func write(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { bytes += $0 }
    }

    /// Writes a condition.
    package mutating func write(_ condition: Bool) { write(condition ? 1 : 0) }

    /// Writes bytes.
    package mutating func write(_ content: [UInt8]) {
        write(content.count)
        bytes += content
    }

    /// Writes a text.
    package mutating func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes a path.
    package mutating func write(_ path: FilePath) { write(path.bytes) }

    /// Writes a list.
    package mutating func write<Element>(_ list: [Element], _ each: (inout MessageWriter, Element) -> Void) {
        write(list.count)
        for element in list { each(&self, element) }
    }

    /// Writes a value that may be missing.
    package mutating func write<Value>(_ value: Value?, _ write: (inout MessageWriter, Value) -> Void) {
        self.write(value.map { [$0] } ?? [], write)
    }

    /// Writes an error, without its failed checks.
    package mutating func write(_ error: MediaError) {
        write(error.code.rawValue)
        write(error.message)
        write(error.path) { $0.write($1) }
        write(error.cause) { $0.write($1) }
    }
}

/// Reads the parts of a message, which may be hostile.
///
/// Every method throws ``Invalid`` if the message does not go on so.
package struct MessageReader {
    /// The message is not one of the expected kind.
    package struct Invalid: Error {
        /// Creates the error.
        package init() {}
    }

    private var rest: ArraySlice<UInt8>

    /// Creates a reader at the start of a message.
    package init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// Reads a number.
    package mutating func number() throws(Invalid) -> Int {
        guard rest.count >= 8 else { throw Invalid() }
        defer { rest = rest.dropFirst(8) }
        return Int(truncatingIfNeeded: rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Reads a condition.
    package mutating func condition() throws(Invalid) -> Bool {
        let number = try number()
        guard number == 0 || number == 1 else { throw Invalid() }
        return number == 1
    }

    /// Reads bytes.
    package mutating func bytes() throws(Invalid) -> [UInt8] {
        let count = try number()
        guard (0...rest.count).contains(count) else { throw Invalid() }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Reads a text, with invalid UTF-8 repaired.
    package mutating func text() throws(Invalid) -> String { String(decoding: try bytes(), as: UTF8.self) }

    /// Reads a path.
    package mutating func path() throws(Invalid) -> FilePath { FilePath(bytes: try bytes()) }

    /// Reads a list.
    package mutating func list<Element>(
        _ each: (inout MessageReader) throws(Invalid) -> Element
    ) throws(Invalid) -> [Element] {
        let count = try number()
        // Each element takes at least eight bytes.
        guard (0...rest.count / 8).contains(count) else { throw Invalid() }
        var list: [Element] = []
        for _ in 0..<count { list.append(try each(&self)) }
        return list
    }

    /// Reads a value that may be missing.
    package mutating func optional<Value>(
        _ read: (inout MessageReader) throws(Invalid) -> Value
    ) throws(Invalid) -> Value? { try list(read).first }

    /// Reads a number that may be missing.
    package mutating func optionalNumber() throws(Invalid) -> Int? {
        try optional { reader throws(Invalid) in try reader.number() }
    }

    /// Reads an error.
    package mutating func error() throws(Invalid) -> MediaError {
        let (code, message) = (try text(), try text())
        let path = try optional { reader throws(Invalid) in try reader.text() }
        let cause = try optional { reader throws(Invalid) in try reader.text() }
        return MediaError(MediaError.Code(rawValue: code), message, path: path, cause: cause)
    }
}
