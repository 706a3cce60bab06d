package import MediaBase
package import SystemPackage
internal import Threading

/// The process that creates a sandboxed process's outputs and puts them in place.
///
/// Once ``OutputKeeping/delegate(to:)`` was called, every ``OutputFileSet`` of this process begins its outputs by a keeper.
package protocol OutputKeeper: Sendable {
    /// Begins an output as ``OutputFileSet/begin(_:goesBack:waits:isRewritten:)`` does.
    func begin(_ request: OutputRequest) throws(MediaError) -> KeptOutput
    /// Closes the keeper's descriptor of an output to which nothing more is written.
    func complete(_ id: Int)
    /// Puts outputs in place as ``OutputFile/commit(_:together:)`` does.
    func commit(_ ids: [Int], together: Bool) -> [(index: Int, error: MediaError)]
    /// Removes an output.
    func discard(_ id: Int)
    /// Refuses inputs as this output, or as later ones, as ``OutputFile/refuse(_:)`` does.
    func refuse(_ inputs: [FileIdentity], as id: Int?) throws(MediaError)
}

/// An output that a keeper is asked to begin.
package struct OutputRequest: Sendable, Equatable {
    /// The path.
    package let path: FilePath
    /// True if the writer later changes content written before.
    package let goesBack: Bool
    /// True to create missing folders of the path.
    package let makesFolder: Bool
    /// True for a file that a run writes again and again.
    package let isRewritten: Bool

    /// Creates a request.
    package init(_ path: FilePath, goesBack: Bool = false, makesFolder: Bool = false, isRewritten: Bool = false) {
        (self.path, self.goesBack, self.makesFolder, self.isRewritten) = (path, goesBack, makesFolder, isRewritten)
    }
}

/// An output that a keeper has begun.
package struct KeptOutput: Sendable {
    /// The open file; the receiver owns it.
    package var descriptor: FileDescriptor
    /// The open FIFO or device to which the file's contents are copied at the end; the receiver owns it.
    package var destination: FileDescriptor?
    /// The keeper's name and the temporary file of an output that is put in place by ``OutputKeeper/commit(_:together:)``;
    /// `nil` if it is written directly.
    package var kept: (id: Int, temporaryPath: FilePath)?

    /// Creates the description of an output.
    package init(
        descriptor: FileDescriptor, destination: FileDescriptor? = nil, kept: (id: Int, temporaryPath: FilePath)? = nil
    ) {
        self.descriptor = descriptor
        self.destination = destination
        self.kept = kept
    }
}

/// The way in which this process makes outputs.
package enum OutputKeeping {
    private static let keeper = Mutex<(any OutputKeeper)?>(nil)

    /// The keeper of this process's outputs; `nil` if it makes them itself.
    static var current: (any OutputKeeper)? { keeper.withLock(\.self) }

    /// Leaves the making of outputs to a keeper from now on.
    ///
    /// Call this once, before the process starts threads.
    package static func delegate(to keeper: any OutputKeeper) { self.keeper.withLock { $0 = keeper } }
}
