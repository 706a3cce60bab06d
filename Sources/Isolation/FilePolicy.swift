import Glibc
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
        path == "-" || outputNames.contains(path) || outputPatterns.contains { Self.matches(path, pattern: $0) }
    }

    /// Returns true if a name matches a pattern, in which each part in braces stands for anything without `/`.
    ///
    /// A part in braces does not stand for `..`, which would lead elsewhere.
    static func matches(_ name: FilePath, pattern: FilePath) -> Bool {
        func parents(_ path: FilePath) -> Int { path.components.count { $0.kind == .parentDirectory } }
        guard name.length <= PATH_MAX, parents(name) == parents(pattern) else { return false }
        let name = name.bytes
        // The places in the name up to which the pattern matches so far.
        var places: Set<Int> = [0]
        var rest = pattern.bytes[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")) {
                rest = rest[(end + 1)...]
                for start in places {
                    let stop = name[start...].firstIndex(of: UInt8(ascii: "/")) ?? name.count
                    places.formUnion(start...stop)
                }
            } else {
                places = Set(places.compactMap { $0 < name.count && name[$0] == byte ? $0 + 1 : nil })
            }
        }
        return places.contains(name.count)
    }
}
