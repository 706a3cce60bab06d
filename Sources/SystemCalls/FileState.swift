import Glibc
package import SystemPackage

/// Which file a path led to, and how that was when it was looked at: what of stat(2) changes with the content.
package struct FileState: Sendable, Equatable {
    private let device: DeviceID
    private let inode: Inode
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// The state of the file that a path leads to through symbolic links; `nil` where it leads to none.
    package init?(of path: FilePath) {
        guard let status = try? Stat(path) else { return nil }
        device = status.deviceID
        inode = status.inode
        size = status.size
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
