/// How the light of HDR is brought into the range of an ordinary display: the EETF of ITU-R BT.2390-11, 5.4.1.
///
/// Up to a knee light stays as it is; above it a Hermite spline in PQ values bends it so that the content's peak
/// becomes the display's white. The display's black is taken as 0, as the content's is.
package struct ToneCurve: Sendable, Hashable {
    /// The content's peak in cd/m².
    package let peak: Double
    /// What becomes white, in cd/m².
    package let white = TransferFunction.referenceWhite

    /// What is taken as the peak where nothing says so: what most content is graded on, and HLG's nominal peak.
    package static let usualPeak = 1000.0

    /// The curve for content with a peak in cd/m², which is brought into what PQ can code.
    package init(peak: Double = usualPeak) {
        self.peak = peak.isFinite ? min(max(peak, TransferFunction.referenceWhite), 10_000) : Self.usualPeak
    }

    /// What light becomes, both relative to white; light above the peak becomes 1.
    package func callAsFunction(_ light: Double) -> Double {
        let top = TransferFunction.pqSignal(peak)
        let highest = TransferFunction.pqSignal(white) / top
        let knee = 1.5 * highest - 0.5
        let value = TransferFunction.pqSignal(light * white) / top
        if highest >= 1 || value >= 1 { return min(light, 1) }
        if value < knee { return light }
        let t = (value - knee) / (1 - knee)
        let (t2, t3) = (t * t, t * t * t)
        let bent = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * highest
        return min(TransferFunction.pqLuminance(bent * top) / white, 1)
    }
}
