package import FileOutput
import MediaBase

extension Asset {
    /// What the asset may ask for; of a composition, what its first source may.
    var limits: MediaLimits { (rendering?.asset.composition ?? composition)?.firstSource?.limits ?? options.limits }

    /// When reading ends, and all that is made of what was read; `nil` for never.
    package var deadline: ContinuousClock.Instant? { limits.deadline }

    /// Gives the bytes that outputs made of the asset may have together: ``MediaLimits/outputBytes``, or what goes with
    /// the size of its files and with how much has come through a pipe.
    ///
    /// - Parameter copying: Whether stored samples are copied, which makes no file much larger.
    /// - Returns: `nil` where there is no limit, because nested files may be of any size.
    /// - Throws: what loading the asset throws.
    package func outputAllowance(copying: Bool = false) throws(MediaError) -> OutputAllowance? {
        if let bytes = limits.outputBytes { return OutputAllowance { bytes } }
        guard let inputBytes = try inputBytes() else { return nil }
        return OutputAllowance {
            MediaLimits.standardOutputBytes(forInputOf: inputBytes(), copying: copying)
        }
    }

    /// Tells how many bytes the asset's files have, each counted as often as it is used; `nil` where that cannot be told.
    private func inputBytes() throws(MediaError) -> (@Sendable () -> Int)? {
        guard let composition = rendering?.asset.composition ?? composition else {
            _ = try contents()
            return options.allowsNestedFiles ? nil : countedBytes
        }
        var total = 0
        for source in composition.tracks.lazy.flatMap(\.segments).compactMap(\.asset) {
            guard let bytes = try source.inputBytes() else { return nil }
            let (sum, overflow) = total.addingReportingOverflow(bytes())
            total = overflow ? .max : sum
        }
        let bytes = total
        return { bytes }
    }
}

extension Composition {
    /// The first asset that media is taken from; `nil` where there are only gaps.
    fileprivate var firstSource: Asset? { tracks.lazy.flatMap(\.segments).compactMap(\.asset).first }
}
