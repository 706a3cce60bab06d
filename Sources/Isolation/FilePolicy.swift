import SystemCalls
package import SystemPackage

/// The files that a sandboxed process may have its supervisor open for a job.
package struct FilePolicy: Sendable {
    /// The file that a job opens first, if it is a regular one; it comes with the job.
    package var input: FilePath?
    /// The files that may be read, by the paths under which the job knows them.
    package var readable: Set<FilePath> = []
    /// The folders below which everything may be read; the empty path is the current folder.
    package var folders: Set<FilePath> = []
    /// True if every file may be read that the supervisor can read.
    package var readsEverything = false
    /// Returns true if the byte source of a name may be read, such as an address.
    package var allowsSource: @Sendable (_ name: String) -> Bool = { _ in false }
    /// The names of outputs.
    package var outputNames: Set<FilePath> = []
    /// The patterns of names of outputs; each part in braces stands for any characters but `/`.
    package var outputPatterns: [FilePath] = []

    /// Creates a policy that allows nothing.
    package init() {}

    /// Returns true if an output may have a name.
    func allowsOutput(_ path: FilePath) -> Bool {
        path == "-" || outputNames.contains(path) || outputPatterns.contains(where: path.matches)
    }
}
