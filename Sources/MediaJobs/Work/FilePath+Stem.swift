internal import SystemCalls
package import SystemPackage

extension FilePath {
    /// The name of an input without folder and extension, byte for byte; `stdin` for standard input.
    ///
    /// A dot in front begins a hidden name, not an extension.
    package var inputStem: [UInt8] {
        if self == "-" { return Array("stdin".utf8) }
        let name = lastComponent?.bytes ?? []
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return name }
        return Array(name[..<dot])
    }

    /// Whether a name that is made of this input's stem leads to another folder than one that is made of any other, because
    /// the stem of `...mov` is `..`.
    package func isLedAway(_ name: (FilePath) -> FilePath) -> Bool {
        func steps(_ path: FilePath) -> Int { path.components.count { $0.kind != .regular } }
        return steps(name(self)) != steps(name("stem.mov"))
    }

    /// The path from the root on, by its text: links are not followed.
    package var absolute: FilePath {
        if isAbsolute { return lexicallyNormalized() }
        let current = (try? targetOfSymbolicLink("/proc/self/cwd")) ?? "/"
        return current.pushing(self).lexicallyNormalized()
    }

    /// The path with every `mark` replaced, byte for byte.
    package func replacing(_ mark: String, with text: [UInt8]) -> FilePath {
        let mark = Array(mark.utf8)
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.first {
            if rest.starts(with: mark) {
                result += text
                rest = rest.dropFirst(mark.count)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return FilePath(bytes: result)
    }
}
