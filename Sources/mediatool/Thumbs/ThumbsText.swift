import MediaBase
import MediaJobs
import SystemPackage

extension ThumbsEvent {
    /// The line that tells a person of it.
    var line: String {
        let parts: [String] =
            switch self {
            case .image(let made):
                [
                    made.file.map(Self.name) ?? "-", "\(made.size)", made.actual.clockText(),
                    made.isKeyframe ? "keyframe" : nil,
                ].compactMap(\.self)
            case .sheet(let file, let size, let count):
                [Self.name(of: file), "\(size)", count == 1 ? "1 image" : "\(count) images"]
            case .index(let file, let cues):
                [Self.name(of: file), cues == 1 ? "1 cue" : "\(cues) cues"]
            }
        return parts.joined(separator: "  ") + "\n"
    }

    private static func name(of file: FilePath) -> String { StandardError.singleLine(file.displayPath) }
}
