import Glibc
package import SystemPackage

/// Makes an empty file without a name for what does not fit into memory, open for reading and writing.
///
/// It lies in the folder that `TMPDIR` names, else in `/tmp`, and is gone when it is closed: mkstemp(3), unlink(2).
package func makeTemporaryFile() throws(Errno) -> FileDescriptor {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(folder)/mediatool-XXXXXX".utf8CString)
    let number = mkstemp(&template)
    guard number >= 0 else { throw Errno(rawValue: errno) }
    unlink(template)
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    return FileDescriptor(rawValue: number)
}
