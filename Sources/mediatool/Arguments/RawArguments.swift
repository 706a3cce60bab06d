import MediaJobs
import SystemCalls
import SystemPackage

/// The command line as bytes, in a form of text that ArgumentParser can carry and that loses nothing.
///
/// Linux passes bytes, and a file name need not be UTF-8; Swift's `CommandLine.arguments` repairs it, and the file is
/// then not found. Here each byte that is not part of valid UTF-8 becomes the private-use scalar U+10FE00 + byte, and a
/// scalar of that block that really stands in an argument is escaped byte by byte likewise. So every sequence of bytes
/// has one text, and ``bytes(of:)`` gives the bytes back.
enum RawArguments {
    /// Stands for the bytes 80 to FF; plane 16 is private use, and nobody is known to use its end.
    private static let block: ClosedRange<UInt32> = 0x10FE80...0x10FEFF
    private static let blockBase: UInt32 = 0x10FE00

    /// The arguments of this process as escaped text, without the program's name.
    ///
    /// Read from proc(5) `/proc/self/cmdline`; where there is no `/proc`, what Swift has made of them.
    static func current() -> [String] {
        guard let bytes = try? readAll("/proc/self/cmdline"), !bytes.isEmpty else {
            return Array(CommandLine.arguments.dropFirst())
        }
        return split(bytes).dropFirst().map { escaped(bytes: $0) }
    }

    /// The arguments in the text of `/proc/self/cmdline`, in which each ends with NUL.
    static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        let closed = bytes.last == 0 ? bytes.dropLast() : bytes[...]
        return closed.split(separator: 0, omittingEmptySubsequences: false)
    }

    /// Text that stands for the bytes.
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

    /// The bytes that a text stands for.
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

    /// The text for a person to read: what is no UTF-8 becomes U+FFFD.
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
