public import SystemPackage

/// A job for a helper process: its name, and the types of its request and its result.
///
/// Declare jobs in a module that the server and its helper both import. The helper registers what they do
/// (``MediaJobHelper``), the server runs them (``MediaJobPool``).
///
/// ```swift
/// extension MediaJob where Request == FilePath, Result == Double {
///     static let duration = MediaJob("duration")
/// }
/// ```
///
/// Requests and results go to and fro as JSON. A large result is better written to an output file.
public struct MediaJob<Request: Codable & Sendable, Result: Codable & Sendable>: Sendable {
    /// The name, which no other job of the helper has.
    public let name: String

    /// Creates a job with a name.
    public init(_ name: String) { self.name = name }
}

/// The files that a job may use: its helper can open no others but the system's fonts and tables.
///
/// The helper opens them by these very paths, with any API of AssetKit that takes a path. Relative paths are relative to
/// the server's current folder.
public struct MediaJobFiles: Sendable, Hashable {
    /// The files that may be read.
    public var inputs: [FilePath]
    /// The folders below which every file may be read.
    public var inputFolders: [FilePath]
    /// The files that may be written; each is put in place when it is complete.
    public var outputs: [FilePath]
    /// True to replace outputs that exist, if the job asks for that too (`AssetWriter(path:fileType:overwrite:)`).
    public var replacesOutputs: Bool

    /// Creates a list of files.
    public init(
        inputs: [FilePath] = [], inputFolders: [FilePath] = [], outputs: [FilePath] = [], replacesOutputs: Bool = false
    ) {
        self.inputs = inputs
        self.inputFolders = inputFolders
        self.outputs = outputs
        self.replacesOutputs = replacesOutputs
    }
}
