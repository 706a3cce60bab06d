internal import MediaBase
package import MediaJobs
package import QualityControl
package import SystemPackage

/// A part of a recipe: one or more outputs that one job makes.
package struct IngestPart: Sendable {
    /// The work that makes the outputs; the names in it are below the folder that is filled.
    package enum Work: Sendable {
        /// The declared properties, as JSON.
        case probe(FilePath)
        /// Peaks files and pictures of the audio.
        case waveform([WaveformOutput], WaveformOptions, eachTrack: Bool)
        /// Images, or sheets of them; `spacedByLength` for one every 2 seconds below five minutes, and every 10 otherwise.
        case images(ThumbsRequest, ThumbsOutput, spacedByLength: Bool)
        /// A media file.
        case proxy(TranscodeRequest, FilePath)
        /// The results of a policy's checks, as JSON.
        case check(Policy, FilePath)
        /// The times at which new shots start, as JSON.
        case scenes(threshold: Double, FilePath)
        /// The hashes of all decoded frames.
        case frameHashes(FilePath)
        /// The page that shows the other outputs.
        case page(FilePath)
    }

    /// The part's name in recipes and on the command line.
    package enum Name: String, Sendable, CaseIterable {
        case probe, peaks, waveform, poster, sprites, proxy, qc, scenes, frames, page
    }

    /// The name.
    package let name: Name
    /// The options as they were written, in order.
    package let options: [IngestRecipe.Option]
    /// The work.
    package let work: Work

    /// Creates a part.
    package init(_ name: Name, options: [IngestRecipe.Option], _ work: Work) {
        self.name = name
        self.options = options
        self.work = work
    }

    /// Returns the media type without which there is nothing to do; `nil` if there is always something.
    var neededType: MediaType? {
        switch name {
        case .peaks, .waveform: .audio
        case .poster, .sprites, .proxy, .scenes: .video
        case .probe, .qc, .frames, .page: nil
        }
    }

    /// The kind of the outputs in the manifest.
    func kind(of file: FilePath) -> String {
        switch (name, file.extension) {
        case (.sprites, "vtt"): "spriteIndex"
        case (.sprites, _): "sprite"
        default: name.rawValue
        }
    }
}

extension IngestPart {
    /// The names of all files that the part may write, relative to the folder; parts in braces stand for others.
    package var patterns: [FilePath] {
        switch work {
        case .probe(let path), .proxy(_, let path), .check(_, let path), .scenes(_, let path), .frameHashes(let path),
            .page(let path):
            [path]
        case .waveform(let outputs, _, let eachTrack):
            outputs.map { eachTrack ? $0.path.withTrack("{track}") : $0.path }
        case .images(_, let output, _): output.patterns
        }
    }
}

extension FilePath {
    /// Returns the name of an output that is about one of several tracks: `peaks-track2.dat`.
    func withTrack(_ track: String) -> FilePath {
        var path = self
        path.stem.map { path.replaceLastComponent(with: "\($0)-track\(track)", extension: self.extension) }
        return path
    }

    private mutating func replaceLastComponent(with stem: String, extension ending: String?) {
        removeLastComponent()
        append(ending.map { "\(stem).\($0)" } ?? stem)
    }
}
