import Glibc
package import SystemPackage

extension FilePath {
    /// The bytes of the path as the system gets them, without the final NUL.
    package var bytes: [UInt8] {
        withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }

    /// Makes a path from bytes in any encoding.
    ///
    /// A path cannot hold NUL: the bytes end before the first one. As with every `FilePath`, separators at the end and
    /// repeated ones go away.
    package init(bytes: some Sequence<UInt8>) {
        var platformString = bytes.prefix { $0 != 0 }.map { CInterop.PlatformChar(bitPattern: $0) }
        platformString.append(0)
        self.init(platformString: platformString)
    }
}

extension FilePath.Component {
    /// The bytes of the name as the system gets them, without a final NUL.
    package var bytes: [UInt8] {
        withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
}
