import MediaBase
import SystemCalls
public import SystemPackage

/// Watches a fragmented file that is being written, and returns a new asset each time it has grown:
/// `AVFragmentedAssetMinder`.
///
/// ```swift
/// for try await asset in FragmentedAssetMinder(path: "live.mp4", mindingInterval: .seconds(2)) {
///     print(try await asset.load(.duration))
/// }
/// ```
///
/// An ``Asset`` has the content that the file had when it was opened, so each element is an asset of its own. The first one is
/// the file as it is; a later one follows when the duration is longer. The sequence ends when its task is cancelled: whether
/// a writer is still at work cannot be told from a file. Iterating waits without blocking a thread.
public struct FragmentedAssetMinder: AsyncSequence, Sendable {
    /// The path of the file.
    public let path: FilePath
    /// The time between two looks at the file.
    public let mindingInterval: Duration
    private let options: Asset.Options

    /// Creates a minder, which does nothing before it is iterated.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - mindingInterval: The time between two looks at the file.
    ///   - options: The options with which the file is opened.
    public init(path: FilePath, mindingInterval: Duration = .seconds(10), options: Asset.Options = .init()) {
        self.path = path
        self.mindingInterval = mindingInterval
        self.options = options
    }

    /// Creates the iterator of the sequence.
    public func makeAsyncIterator() -> Iterator { Iterator(minder: self) }

    /// Delivers the file each time it has grown.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let minder: FragmentedAssetMinder
        private var size: Int64?
        private var duration: MediaTime?

        fileprivate init(minder: FragmentedAssetMinder) { self.minder = minder }

        /// Returns the file when it has grown; `nil` once the task is cancelled.
        ///
        /// - Throws: Any error from opening the file. A file without its first fragment is not there yet, if a writer of
        ///   this library makes it.
        public mutating func next() async throws -> Asset? {
            while !Task.isCancelled {
                let current = (try? minder.path.stat()).map { Int64($0.size) }
                if current == nil || current != size {
                    let asset = Asset(path: minder.path, options: minder.options)
                    let length = try await asset.load(.duration)
                    size = current
                    if duration.map({ length > $0 }) ?? true {
                        duration = length
                        return asset
                    }
                }
                do { try await Task.sleep(for: minder.mindingInterval) } catch { return nil }
            }
            return nil
        }
    }
}
