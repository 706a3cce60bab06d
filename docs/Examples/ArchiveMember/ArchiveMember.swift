// Reports the tracks of a media file that lies in a tar archive, without unpacking it.
//
//     swift run ExampleArchiveMember ARCHIVE.tar MEMBER
//
// `TarMember` is a ByteSource: code of one's own that delivers bytes at an offset.

import AssetKit
import Foundation

/// A file inside a tar archive: the bytes after its header (POSIX.1-1988, ustar).
final class TarMember: ByteSource {
    private let archive: FileDescriptor
    private let start: UInt64
    /// The size of the member.
    let size: UInt64?

    /// Finds a member; `nil` if the archive has none of this name.
    init?(_ name: String, in path: FilePath) throws {
        archive = try FileDescriptor.open(path, .readOnly)
        var offset: UInt64 = 0
        while case let header = try Self.bytes(of: archive, at: offset, count: 512), header.count == 512, header[0] != 0
        {
            func text(_ range: Range<Int>) -> String {
                String(decoding: header[range].prefix { $0 != 0 }, as: UTF8.self).trimmingCharacters(in: .whitespaces)
            }
            guard let size = UInt64(text(124..<136), radix: 8) else { break }
            if text(0..<100) == name {
                (start, self.size) = (offset + 512, size)
                return
            }
            offset += 512 + (size + 511) / 512 * 512
        }
        try archive.close()
        return nil
    }

    deinit { try? archive.close() }

    func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        guard let size, offset < size else { return [] }
        do {
            return try Self.bytes(of: archive, at: start + offset, count: Int(min(UInt64(count), size - offset)))
        } catch {
            throw MediaError(.inputOutput, "the archive cannot be read", cause: "\(error)")
        }
    }

    /// Reads bytes; fewer at the end of the file.
    private static func bytes(of file: FileDescriptor, at offset: UInt64, count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let part = try [UInt8](unsafeUninitializedCapacity: count - bytes.count) { buffer, filled in
                let place = Int64(offset) + Int64(bytes.count)
                filled = try file.read(fromAbsoluteOffset: place, into: UnsafeMutableRawBufferPointer(buffer))
            }
            if part.isEmpty { break }
            bytes += part
        }
        return bytes
    }
}

@main
struct ArchiveMember {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let archive = arguments.first, let name = arguments.last else {
            print("usage: ExampleArchiveMember ARCHIVE.tar MEMBER")
            exit(64)
        }
        guard let member = try TarMember(name, in: FilePath(archive)) else {
            print("\(archive) has no \(name)")
            exit(2)
        }
        let asset = Asset(source: member, name: name)
        for track in try await asset.load(.tracks) {
            print(track.index, track.mediaType, track.timeRange.duration)
        }
    }
}
