internal import SystemCalls
package import SystemPackage

/// A path for outputs in which `{stem}` and `{spp}` stand for what differs between them.
///
/// `{stem}` is the input's name without folder and extension (`stdin` for standard input), `{spp}` the samples per
/// pixel. Everything else, other braces too, stands for itself, byte for byte.
package struct WaveformOutputTemplate: Sendable, Hashable {
    private static let stemMark = Array("{stem}".utf8)
    private static let levelMark = Array("{spp}".utf8)

    private let bytes: [UInt8]

    /// Makes a template of a path.
    package init(_ path: FilePath) { bytes = path.bytes }

    /// Whether outputs of several inputs get names of their own.
    package var tellsInputs: Bool { contains(Self.stemMark) }

    /// Whether outputs of several zoom levels get names of their own.
    package var tellsLevels: Bool { contains(Self.levelMark) }

    /// All placeholders, for messages.
    package static let placeholders = "{stem} {spp}"

    /// A word in braces that stands for nothing, which is more likely a slip than a part of a name; `nil` where there is
    /// none.
    package var unknownPlaceholder: String? {
        for start in bytes.indices where bytes[start] == UInt8(ascii: "{") {
            let letters = bytes[(start + 1)...].prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            guard !letters.isEmpty, letters.endIndex < bytes.endIndex, bytes[letters.endIndex] == UInt8(ascii: "}")
            else { continue }
            let name = bytes[start...letters.endIndex]
            if name.elementsEqual(Self.stemMark) || name.elementsEqual(Self.levelMark) { continue }
            return String(decoding: name, as: UTF8.self)
        }
        return nil
    }

    /// The output's path for one input and zoom level.
    package func path(for input: FilePath, samplesPerPixel: Int) -> FilePath {
        let stem = input.inputStem
        let level = Array(String(samplesPerPixel).utf8)
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.first {
            if rest.starts(with: Self.stemMark) {
                result += stem
                rest = rest.dropFirst(Self.stemMark.count)
            } else if rest.starts(with: Self.levelMark) {
                result += level
                rest = rest.dropFirst(Self.levelMark.count)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return FilePath(bytes: result)
    }

    private func contains(_ mark: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: mark) }
    }
}
