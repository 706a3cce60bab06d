package import FileOutput
import LibAV
package import MediaBase
import SystemCalls
import SystemPackage

/// The origin of an asset's media.
///
/// Reading and imaging ask a backing that has no input for more: ``ComposedBacking``, ``FrameLocatingBacking`` and
/// ``CompositedBacking``.
protocol AssetBacking: Sendable {
    /// The input to open; `nil` if all media is taken from other assets.
    var input: InputSource? { get }
    /// The assets from which media is taken, once for each use; empty for an input.
    var sources: [Asset] { get }
}

/// The place of a job in a reading that several jobs share.
protocol ReadingSeat: AnyObject, Sendable {
    /// Gives the place up.
    func leave()
}

extension InputSource: AssetBacking {
    var input: InputSource? { self }
    var sources: [Asset] { [] }
}

extension Asset {
    /// The current state of the asset's file; `nil` if the file is gone or has no path.
    var fileState: FileState? { (backing.input?.path).flatMap { FileState(of: $0) } }

    /// The files that the asset is read from: its own, or those of its sources.
    var files: [FilePath] {
        if case .path(let path) = backing.input { return [path] }
        return backing.sources.flatMap(\.files)
    }

    /// The limits of the asset; for a composition, those of its first source.
    var limits: MediaLimits { backing.sources.first?.limits ?? options.limits }

    /// The time by which reading, and all processing of the result, must end; `nil` for no deadline.
    package var deadline: ContinuousClock.Instant? { limits.deadline }

    /// Returns the total number of bytes that outputs made from the asset may have.
    ///
    /// This is ``MediaLimits/outputBytes`` if it is set. Otherwise it depends on the size of the asset's files and on
    /// the number of bytes received through a pipe.
    ///
    /// - Parameter copying: True if stored samples are copied, which makes no file much larger.
    /// - Returns: `nil` if there is no limit, because nested files may have any size.
    /// - Throws: Any error from loading the asset.
    package func outputAllowance(copying: Bool = false) throws(MediaError) -> OutputAllowance? {
        if let bytes = limits.outputBytes { return OutputAllowance { bytes } }
        guard let inputBytes = try inputBytes() else { return nil }
        return OutputAllowance {
            MediaLimits.standardOutputBytes(forInputOf: inputBytes(), copying: copying)
        }
    }

    /// Returns a function that reports the total size of the asset's files, each counted once per use; `nil` if
    /// unknown.
    private func inputBytes() throws(MediaError) -> (@Sendable () -> Int)? {
        guard backing.input == nil else {
            _ = try contents()
            return options.allowsNestedFiles ? nil : countedBytes
        }
        var total = 0
        for source in backing.sources {
            guard let bytes = try source.inputBytes() else { return nil }
            let (sum, overflow) = total.addingReportingOverflow(bytes())
            total = overflow ? .max : sum
        }
        let bytes = total
        return { bytes }
    }
}
