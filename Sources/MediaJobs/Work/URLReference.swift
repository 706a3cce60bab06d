internal import MediaBase
internal import SystemCalls
internal import SystemPackage

/// A relative URL reference from one file to another, as used in web pages.
///
/// All bytes outside RFC 3986's unreserved set are percent-encoded.
enum URLReference {
    /// Returns the reference to `file` for use in a document at `document`.
    ///
    /// Paths are compared by name only, because browsers do not resolve symbolic links.
    static func relative(to file: FilePath, from document: FilePath) -> String {
        let target = file.absolute.components.map(\.bytes)
        let base = document.absolute.components.map(\.bytes).dropLast()
        let shared = zip(target.dropLast(), base).prefix { $0 == $1 }.count
        let steps = [String](repeating: "..", count: base.count - shared)
        return (steps + target.dropFirst(shared).map { $0.percentEncoded() }).joined(separator: "/")
    }
}
