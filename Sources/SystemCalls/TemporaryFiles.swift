import CSystemCalls
import Glibc
package import SystemPackage

/// Creates an empty, unnamed file for data that does not fit into memory, open for reading and writing.
///
/// The file lies in the folder named by `TMPDIR`, else in `/tmp`, and disappears when it is closed. If the file system
/// does not support unnamed files (open(2) with `O_TMPFILE`), the file has a name for a moment: mkostemp(3),
/// unlink(2).
package func makeTemporaryFile() throws(Errno) -> FileDescriptor {
    if let opener = FileAccess.current { return try opener.makeTemporaryFile() }
    var folder = getenv("TMPDIR").map { FilePath(platformString: $0) } ?? FilePath()
    if folder.isEmpty { folder = "/tmp" }
    let unnamed = folder.withPlatformString { csc_open_unnamed($0, 0o600) }
    if unnamed >= 0 { return FileDescriptor(rawValue: unnamed) }
    var template = folder.appending("mediatool-XXXXXX").withPlatformString { name in
        Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1))
    }
    let number = mkostemp(&template, O_CLOEXEC)
    guard number >= 0 else { throw Errno(rawValue: errno) }
    unlink(template)
    return FileDescriptor(rawValue: number)
}

/// Creates a file as ``makeTemporaryFile()`` does, with a content.
package func makeTemporaryFile(with bytes: [UInt8]) throws(Errno) -> FileDescriptor {
    let file = try makeTemporaryFile()
    do {
        try writeAll(bytes.span, to: file, at: 0)
    } catch {
        try? file.close()
        throw error
    }
    return file
}
