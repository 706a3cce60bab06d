import LibAV
package import MediaBase

extension AssetTrack {
    /// Pictures a second, by which timecodes count: the nominal rate, halved where that counts fields.
    package var pictureRate: Rational? {
        Rational.pictureRate(
            nominal: nominalFrameRate, average: averageFrameRate,
            fieldOrder: formatDescriptions.first?.video?.fieldOrder)
    }
}

extension StreamInfo {
    /// Pictures a second, as ``AssetTrack/pictureRate``.
    var pictureRate: Rational? {
        Rational.pictureRate(nominal: nominalFrameRate, average: averageFrameRate, fieldOrder: format.video?.fieldOrder)
    }
}

extension Rational {
    /// Pictures a second by what is known of a track: ``AssetTrack/pictureRate``.
    fileprivate static func pictureRate(nominal: Rational?, average: Rational?, fieldOrder: String?) -> Rational? {
        guard let nominal, let average else { return nominal ?? average }
        let ratio = nominal.doubleValue / average.doubleValue
        let isInterlaced = fieldOrder.map { $0 != "progressive" } ?? false
        guard isInterlaced, ratio > 1.9, ratio < 2.1 else { return nominal }
        return nominal.divided(by: Rational(2))
    }
}
