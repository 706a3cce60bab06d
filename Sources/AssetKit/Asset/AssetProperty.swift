public import MediaBase
import Threading

/// A property of an asset that requires reading the file: `AVAsyncProperty`.
public struct AssetProperty<Value: Sendable>: Sendable {
    let value: @Sendable (AssetContents, Asset) -> Value
}

extension AssetProperty where Value == MediaTime {
    /// The end of the longest track that is seen, heard or read, on the presentation timeline; indefinite if unknown.
    public static var duration: Self { Self { contents, _ in contents.duration } }
}

extension AssetProperty where Value == Bool {
    /// True if durations and random access are exact: `AVURLAsset.providesPreciseDurationAndTiming`.
    ///
    /// This is always true with ``Asset/Options/isPrecise`` if the file can be read twice. Otherwise it depends on the
    /// container.
    public static var providesPreciseDurationAndTiming: Self { Self { contents, _ in contents.isTimingPrecise } }
}

extension AssetProperty where Value == [AssetTrack] {
    /// All tracks, in the container's order.
    public static var tracks: Self { Self { contents, asset in contents.tracks.map { $0.owned(by: asset) } } }
}

extension AssetProperty where Value == [MetadataItem] {
    /// The metadata of the container as a whole.
    public static var metadata: Self { Self { contents, _ in contents.metadata } }
}

extension AssetProperty where Value == [Chapter] {
    /// The chapters, in order.
    public static var chapters: Self { Self { contents, _ in contents.chapters } }
}

extension AssetProperty where Value == [TimedMetadataGroup] {
    /// The chapters as groups of metadata, in order.
    public static var chapterMetadataGroups: Self {
        Self { contents, _ in contents.chapters.map { TimedMetadataGroup($0) } }
    }
}

extension AssetProperty where Value == ContainerInfo {
    /// The properties of the container.
    public static var container: Self { Self { contents, _ in contents.container } }
}

extension AssetProperty where Value == [String] {
    /// The irregularities in the file's structure, one sentence each.
    public static var warnings: Self { Self { contents, _ in contents.warnings } }
}

/// The loading status of a property: `AVAsyncProperty.Status`.
public enum AssetPropertyStatus<Value: Sendable>: Sendable {
    /// The property has not been requested yet.
    case unknown
    /// The property is being loaded.
    case loading
    /// The property is loaded.
    case loaded(Value)
    /// Loading failed.
    case failed(MediaError)
    /// Loading was cancelled.
    case cancelled
}

extension Asset {
    /// Loads a property; the first one opens the file and reads its header.
    ///
    /// The work runs on a thread of the library, never on Swift's cooperative threads. Cancelling the task cancels
    /// loading, unless other callers are waiting for it.
    public func load<Value: Sendable>(_ property: AssetProperty<Value>) async throws(MediaError) -> Value {
        let interest = Interest(in: self)
        defer { interest.end() }
        let contents = try await offload(onCancel: { interest.withdraw() }) { () throws(MediaError) in
            try self.contentsWhileWanted()
        }
        return property.value(contents, self)
    }

    /// Loads a property on the calling thread, which may block while the file is read.
    public func loadNow<Value: Sendable>(_ property: AssetProperty<Value>) throws(MediaError) -> Value {
        property.value(try contents(), self)
    }

    /// Returns the loading status of a property; never blocks.
    public func status<Value: Sendable>(of property: AssetProperty<Value>) -> AssetPropertyStatus<Value> {
        let (result, isLoading) = loadState
        switch result {
        case .success(let contents): return .loaded(property.value(contents, self))
        case .failure(let error): return error.code == .cancelled ? .cancelled : .failed(error)
        case nil: return isLoading ? .loading : .unknown
        }
    }

    /// Loads the tracks of a media type, in the container's order.
    ///
    /// - Parameter type: A track's ``AssetTrack/mediaType`` or its ``AssetTrack/detailedMediaType``.
    public func loadTracks(withMediaType type: MediaType) async throws(MediaError) -> [AssetTrack] {
        try await load(.tracks).filter { $0.mediaType == type || $0.detailedMediaType == type }
    }

    /// Loads the tracks with a characteristic, in the container's order.
    public func loadTracks(withCharacteristic characteristic: MediaCharacteristic) async throws(MediaError)
        -> [AssetTrack]
    {
        try await load(.tracks).filter { $0.has(characteristic) }
    }
}
