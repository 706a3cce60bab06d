import CSystemCalls
import Glibc
package import SystemPackage

/// Makes an empty file without a name for what does not fit into memory, open for reading and writing.
///
/// It lies in the folder that `TMPDIR` names, else in `/tmp`, and is gone when it is closed. Where the file system has no
/// files without a name (open(2) with `O_TMPFILE`), it has one for a moment: mkostemp(3), unlink(2).
package func makeTemporaryFile() throws(Errno) -> FileDescriptor {
    var folder = getenv("TMPDIR").map { FilePath(platformString: $0) } ?? FilePath()
    if folder.isEmpty { folder = "/tmp" }
    let nameless = folder.withPlatformString { csc_open_nameless($0) }
    if nameless >= 0 { return FileDescriptor(rawValue: nameless) }
    var template = folder.appending("mediatool-XXXXXX").withPlatformString { name in
        Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1))
    }
    let number = mkostemp(&template, O_CLOEXEC)
    guard number >= 0 else { throw Errno(rawValue: errno) }
    unlink(template)
    return FileDescriptor(rawValue: number)
}
