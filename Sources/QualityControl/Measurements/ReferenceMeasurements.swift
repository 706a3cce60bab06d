package import MediaBase

/// The differences between a file and the reference that it is compared with.
package struct ReferenceMeasurements: Encodable, Sendable {
    /// The video comparison; `nil` if either file has no video.
    package var pictures: Pictures?
    /// The audio comparison; `nil` if either file has no audio or is silent.
    package var sound: Sound?
    /// The reason why the file's video could not be compared although the reference has some, such as `has no
    /// pictures`.
    ///
    /// It is not part of the JSON.
    package var missingPictures: String?
    /// The reason why the file's audio could not be compared although the reference has some, such as `is silent`.
    ///
    /// It is not part of the JSON.
    package var missingSound: String?
    /// The scores of each frame; not part of the JSON, and empty unless requested.
    package var frames: [Frame] = []

    private enum CodingKeys: String, CodingKey {
        case pictures, sound
    }

    /// The result of a comparison.
    enum Outcome<Value> {
        case compared(Value)
        /// The reference has nothing to compare with.
        case notApplicable
        /// The file lacks something that the reference has; the text is a predicate that says what.
        case missing(String)
    }

    /// The comparison of the first video tracks.
    package struct Pictures: Encodable, Sendable {
        /// The number of frames compared.
        package var count: Int64
        /// The number of frames, of either file, without a counterpart shown at the same time.
        package var unpaired: Int64
        /// Peak signal-to-noise ratios in dB.
        package var psnr: Scores
        /// Structural similarities, 0 to 1.
        package var ssim: Scores
    }

    /// One measure over all frames.
    package struct Scores: Encodable, Sendable {
        /// The score of luma, or of the first component; a PSNR is `nil` if nothing differs, here and in the other
        /// properties.
        package var luma: Double?
        /// The scores of the two other components; empty for greyscale.
        package var chroma: [Double?]
        /// The score of all components, weighted by their numbers of samples.
        package var all: Double?
        /// The score, over all components, of the frame that differs most.
        package var minimum: Double?
        /// The time at which that frame is shown; `nil` if nothing differs.
        package var worst: MediaTime?
        /// The time at which that frame ends; `nil` if nothing differs.
        package var worstEnd: MediaTime?
        /// The number of that frame, from 0.
        package var worstFrame: Int64?
    }

    /// The comparison of the first audio tracks.
    package struct Sound: Encodable, Sendable {
        /// The time by which the file's audio is later; `nil` if the two do not match anywhere.
        package var offset: MediaTime?
        /// The correlation of both beginnings once aligned, -1 to 1; near -1, one of the two is inverted.
        package var correlation: Double
        /// The level of the difference signal in dB, relative to the reference; `nil` if nothing differs.
        ///
        /// Both are aligned before they are subtracted, unless they do not match anywhere.
        package var difference: Double?
    }

    /// The scores of one frame.
    package struct Frame: Sendable {
        /// The time at which the frame is shown.
        package var time: MediaTime
        /// The PSNR of each component, then of all components, in dB; infinite if nothing differs.
        package var psnr: [Double]
        /// The similarity of each component, then of all components.
        package var similarities: [Float]
    }
}

extension ReferenceMeasurements {
    /// The comparison of video; `nil` if nothing was compared, in which case scores have no value.
    var compared: Pictures? { pictures.flatMap { $0.count > 0 ? $0 : nil } }
}

extension ReferenceMeasurements.Scores {
    /// The place of the frame that differs most.
    var worstPlace: [MeasuredValue.Place] {
        worst.map { [MeasuredValue.Place(range: .init(start: $0, end: worstEnd ?? $0))] } ?? []
    }
}
