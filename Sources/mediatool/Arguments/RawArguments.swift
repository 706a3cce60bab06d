import SystemCalls
import SystemPackage

/// Represents the command line's bytes as strings for ArgumentParser, without loss.
///
/// Linux passes bytes, and a file name need not be UTF-8. Swift's `CommandLine.arguments` repairs such a name, and the
/// file is then not found. Here each byte that is not part of valid UTF-8 becomes the private-use scalar U+10FE00 +
/// byte. A scalar of that block that occurs in an argument is escaped in the same way, byte by byte. Therefore every
/// sequence of bytes has one string, and ``bytes(of:)`` returns the original bytes.
enum RawArguments {
    /// The scalars for the bytes 80 to FF, at the end of plane 16, which is private use and has no known users there.
    private static let block: ClosedRange<UInt32> = 0x10FE80...0x10FEFF
    private static let blockBase: UInt32 = 0x10FE00

    /// Returns the arguments of this process as escaped strings, without the program's name.
    ///
    /// They are read from `/proc/self/cmdline`, see proc(5). Without `/proc`, they are those of Swift's `CommandLine`.
    static func current() -> [String] {
        guard let bytes = try? readAll("/proc/self/cmdline"), !bytes.isEmpty else {
            return Array(CommandLine.arguments.dropFirst())
        }
        return split(bytes).dropFirst().map { escaped(bytes: $0) }
    }

    /// Splits the contents of `/proc/self/cmdline`, in which each argument ends with NUL.
    static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        let closed = bytes.last == 0 ? bytes.dropLast() : bytes[...]
        return closed.split(separator: 0, omittingEmptySubsequences: false)
    }

    /// Returns the string that represents bytes.
    static func escaped(bytes: some Collection<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        var rest = bytes[...]
        var iterator = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                if block.contains(scalar.value) {
                    text.append(contentsOf: rest.prefix(encoded.count).compactMap(escape))
                } else {
                    text.append(scalar)
                }
                rest = rest.dropFirst(encoded.count)
            case .error(let length):
                text.append(contentsOf: rest.prefix(length).compactMap(escape))
                rest = rest.dropFirst(length)
            case .emptyInput: return String(text)
            }
        }
    }

    /// Returns the bytes that a string represents.
    static func bytes(of text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            if block.contains(scalar.value) {
                bytes.append(UInt8(scalar.value - blockBase))
            } else {
                bytes += String(scalar).utf8
            }
        }
        return bytes
    }

    /// Returns readable text, with invalid UTF-8 replaced by U+FFFD.
    static func displayed(_ text: String) -> String {
        String(decoding: bytes(of: text), as: UTF8.self)
    }

    private static func escape(_ byte: UInt8) -> Unicode.Scalar? {
        Unicode.Scalar(blockBase + UInt32(byte))
    }

    private static func readAll(_ path: FilePath) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        return try file.closeAfter {
            var bytes: [UInt8] = []
            while true {
                let chunk = try readSome(from: file, atMost: 65_536)
                if chunk.isEmpty { return bytes }
                bytes += chunk
            }
        }
    }
}
