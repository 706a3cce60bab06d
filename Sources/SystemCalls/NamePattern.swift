import Glibc
package import SystemPackage

extension FilePath {
    /// Returns true if the path matches a pattern, in which each part in braces stands for anything without `/`.
    ///
    /// A part in braces does not stand for `..`, which would lead elsewhere.
    package func matches(_ pattern: FilePath) -> Bool {
        func parents(_ path: FilePath) -> Int { path.components.count { $0.kind == .parentDirectory } }
        guard length <= PATH_MAX, parents(self) == parents(pattern) else { return false }
        let name = bytes
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
