package import MediaBase

/// How a file differs from another one that it is compared with.
package struct QCReferenceMeasurements: Encodable, Sendable {
    /// The pictures; nothing where one of the two has none.
    package var pictures: Pictures?
    /// The sound; nothing where one of the two has none, or is silent.
    package var sound: Sound?
    /// Why the file's pictures could not be compared though the reference has some, such as `has no pictures`; not part of
    /// the JSON.
    package var missingPictures: String?
    /// Why the file's sound could not be compared though the reference has some, such as `is silent`; not part of the JSON.
    package var missingSound: String?
    /// Each picture; not part of the JSON, and nothing unless it was asked for.
    package var frames: [Frame] = []

    private enum CodingKeys: String, CodingKey {
        case pictures, sound
    }

    /// What comes of comparing.
    enum Outcome<Value> {
        case compared(Value)
        /// The reference has nothing to compare with.
        case notApplicable
        /// The file lacks what the reference has; how, as a predicate.
        case missing(String)
    }

    /// Of the first video track of each file.
    package struct Pictures: Encodable, Sendable {
        /// How many pictures were compared.
        package var count: Int64
        /// How many of either file had no other one shown at the same time.
        package var unpaired: Int64
        /// Peak signal-to-noise ratios in dB.
        package var psnr: Scores
        /// Structural similarities, 0 to 1.
        package var ssim: Scores
    }

    /// A measure of all pictures.
    package struct Scores: Encodable, Sendable {
        /// Of luma, or the first component; nothing for a PSNR where nothing differs, as for the others.
        package var luma: Double?
        /// Of each of the two others; none for pictures in grey.
        package var chroma: [Double?]
        /// Of all components, by the number of their samples.
        package var all: Double?
        /// Of all components of the picture that differs most.
        package var minimum: Double?
        /// When that picture is shown; nothing where nothing differs.
        package var worst: MediaTime?
        /// When the next one is; nothing likewise.
        package var worstEnd: MediaTime?
        /// Its number, from 0.
        package var worstFrame: Int64?
    }

    /// Of the first audio track of each file.
    package struct Sound: Encodable, Sendable {
        /// How much later the file's sound is; nothing where the two are alike nowhere.
        package var offset: MediaTime?
        /// How alike the beginnings of both are when they are in step, -1 to 1; near -1 one is inverted.
        package var correlation: Double
        /// What is left when one is taken from the other in step, or as they are where they are alike nowhere, in dB against the reference; nothing where nothing is.
        package var difference: Double?
    }

    /// One picture.
    package struct Frame: Sendable {
        /// When it is shown.
        package var time: MediaTime
        /// The PSNR of each component, and of all, in dB; infinite where nothing differs.
        package var psnr: [Double]
        /// The similarity of each component, and of all.
        package var similarities: [Float]
    }
}
