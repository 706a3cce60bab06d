package import SystemPackage

/// Which file a path leads to, whatever it is called: the device and the inode of stat(2).
///
/// Two hard links, or a file and a symbolic link to it, have the same identity.
package struct FileIdentity: Hashable, Sendable {
    private let device: DeviceID
    private let inode: Inode

    /// The identity of what stat(2) tells about.
    package init(_ status: Stat) {
        device = status.deviceID
        inode = status.inode
    }

    /// The identity of the file that a path leads to through symbolic links; `nil` where it leads to none.
    package init?(of path: FilePath) {
        guard let status = try? Stat(path) else { return nil }
        self.init(status)
    }

    /// The identity of an open file; `nil` where the descriptor is closed.
    package init?(of file: FileDescriptor) {
        guard let status = try? file.stat() else { return nil }
        self.init(status)
    }
}
