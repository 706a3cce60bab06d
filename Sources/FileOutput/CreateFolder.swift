internal import MediaBase
internal import SystemCalls
package import SystemPackage

/// Makes a folder where there is none, with the folders above it, as `mkdir -p` does.
///
/// For commands whose output is a folder. Throws `alreadyExists` where a file has that name, else what
/// ``MediaError`` makes of the system's error. It stands for mkdir(2).
package func createFolder(at path: FilePath) throws {
    if let status = try? Stat(path), status.type == .directory { return }
    let parent = path.removingLastComponent()
    if !parent.isEmpty, parent != path { try createFolder(at: parent) }
    do throws(Errno) {
        try makeFolder(path)
    } catch {
        // Another process may have made it meanwhile.
        if error == .fileExists, let status = try? Stat(path), status.type == .directory { return }
        if error == .fileExists {
            throw MediaError(
                .alreadyExists, "cannot make the folder: a file has that name", path: path.string,
                cause: error.description)
        }
        throw MediaError(error, "make the folder", path: path)
    }
}
