import LibAV
package import MediaBase

// Stored samples as numbers, for measurements.

extension PixelBuffer {
    /// Significant bits of a sample of the first component.
    package var bitDepth: Int { frame.bitDepth }

    /// Whether the samples are red, green and blue, or are treated as such.
    package var isRGB: Bool { frame.isRGB }

    /// Bytes a sample and samples from one to the next of the same component; `nil` where samples are no whole bytes in
    /// this machine's order.
    package func sampleLayout(_ plane: Int) -> (bytesPerSample: Int, step: Int)? {
        frame.sampleLayout(plane).map { ($0.bytesPerSample, $0.step) }
    }

    /// What is known of its colours, with what is not known as players assume it.
    package var assumedColor: ColorInfo { frame.assumedColor }

    /// Lends one plane as numbers of a type, with the stride in such numbers; empty where rows do not begin at whole ones.
    package func withSamples<Sample: FixedWidthInteger & BitwiseCopyable, Result, Failure: Error>(
        of type: Sample.Type, plane: Int, _ body: (Span<Sample>, _ stride: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try frame.withPlane(plane, of: type, body)
    }
}
