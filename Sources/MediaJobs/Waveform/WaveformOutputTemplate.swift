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
