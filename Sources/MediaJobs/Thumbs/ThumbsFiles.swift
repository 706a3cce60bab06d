import AssetKit
import MediaBase
import SystemCalls
import SystemPackage

/// Names the single image files of one input, and writes them.
struct ThumbsFiles {
    private let destination: ThumbsDestination
    private let outputs: OutputFileSet
    private let names: ThumbsNames

    /// Makes sure that every image has a name of its own, before anything is written.
    ///
    /// - Throws: `invalidArgument` where two images would have the same name, or several go to standard output.
    init(_ destination: ThumbsDestination, outputs: OutputFileSet, names: ThumbsNames) throws(MediaError) {
        self.destination = destination
        self.outputs = outputs
        self.names = names
        try checkNames()
    }

    private func checkNames() throws(MediaError) {
        guard case .files(let template) = destination else {
            guard names.count <= 1 else {
                throw MediaError(
                    .invalidArgument, "standard output takes one image, not \(names.count); name a folder with -o")
            }
            return
        }
        guard names.count > 1, !template.contains(.index) else { return }
        var taken: Set<[UInt8]> = []
        for place in 0..<names.count {
            let name = names.image(template, place: place, size: nil)
            guard taken.insert(name).inserted else {
                throw MediaError(
                    .invalidArgument,
                    "several images would be named \(FilePath(bytes: name).string); put {index} into the name")
            }
        }
    }

    /// Writes the image of one time, and puts it in place.
    ///
    /// - Returns: The file; `nil` for standard output.
    func write(_ bytes: [UInt8], size: Dimensions, place: Int) throws(MediaError) -> FilePath? {
        guard case .files(let template) = destination else {
            try outputs.put(bytes, at: "-")
            return nil
        }
        let path = FilePath(bytes: names.image(template, place: place, size: size))
        try outputs.put(bytes, at: path)
        return path
    }
}
