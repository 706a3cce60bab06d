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
                    made.file?.displayPath ?? "-", "\(made.size)", made.actual.clockText(),
                    made.isKeyframe ? "keyframe" : nil,
                ].compactMap(\.self)
            case .sheet(let file, let size, let count):
                [file.displayPath, "\(size)", count == 1 ? "1 image" : "\(count) images"]
            case .index(let file, let cues):
                [file.displayPath, cues == 1 ? "1 cue" : "\(cues) cues"]
            }
        return parts.joined(separator: "  ")
    }
}
