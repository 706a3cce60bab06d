package import MediaBase
import Threading

/// The way in which this process reads files on the network.
package enum NetworkAccess {
    /// Returns the source of an address.
    package typealias Opener = @Sendable (NetworkAddress, NetworkOptions) -> any ByteSource

    private static let opener = Mutex<Opener?>(nil)

    /// Leaves the reading to something else from now on, such as a supervisor's process.
    package static func delegate(to opener: @escaping Opener) { self.opener.withLock { $0 = opener } }

    /// Returns a source for an address; nothing is sent before it is opened.
    package static func source(_ address: NetworkAddress, _ options: NetworkOptions) -> any ByteSource {
        opener.withLock(\.self)?(address, options) ?? RemoteFile(address, options)
    }
}
