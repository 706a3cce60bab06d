public import MediaBase

/// A property of an asset that takes reading the file to know: `AVAsyncProperty`.
public struct AssetProperty<Value: Sendable>: Sendable {
    let value: @Sendable (AssetContents) -> Value
}

extension AssetProperty where Value == MediaTime {
    /// The end of the longest track that is seen, heard or read on the presentation's time line.
    ///
    /// Indefinite where unknown.
    public static var duration: Self { Self { $0.duration } }
}

extension AssetProperty where Value == Bool {
    /// Whether durations and random access are exact: `AVURLAsset.providesPreciseDurationAndTiming`.
    ///
    /// Always so for ``Asset/Options/isPrecise`` where the file can be read twice; else it depends on the container.
    public static var providesPreciseDurationAndTiming: Self { Self { $0.isTimingPrecise } }
}

extension AssetProperty where Value == [AssetTrack] {
    /// All tracks, in the container's order.
    public static var tracks: Self { Self { $0.tracks } }
}

extension AssetProperty where Value == [MetadataItem] {
    /// The metadata of the container as a whole.
    public static var metadata: Self { Self { $0.metadata } }
}

extension AssetProperty where Value == [Chapter] {
    /// The chapters, in their order.
    public static var chapters: Self { Self { $0.chapters } }
}

extension AssetProperty where Value == ContainerInfo {
    /// What the container says of itself.
    public static var container: Self { Self { $0.container } }
}

extension AssetProperty where Value == [String] {
    /// What was odd in the file's structure, one sentence each.
    public static var warnings: Self { Self { $0.warnings } }
}

/// How far the loading of a property has come: `AVAsyncProperty.Status`.
public enum AssetPropertyStatus<Value: Sendable>: Sendable {
    /// Nobody has asked for it yet.
    case unknown
    /// It is being read.
    case loading
    /// It is known.
    case loaded(Value)
    /// It could not be read.
    case failed(MediaError)
    /// Loading was cancelled.
    case cancelled
}

extension Asset {
    /// Loads a property; the file is opened and its header read with the first one.
    ///
    /// The work is done on a thread of Dispatch, never on Swift's cooperative ones. Cancelling the task cancels loading,
    /// unless others wait for it too.
    public func load<Value: Sendable>(_ property: AssetProperty<Value>) async throws(MediaError) -> Value {
        let interest = Interest(in: self)
        defer { interest.end() }
        let contents = try await offload(onCancel: { interest.withdraw() }) { () throws(MediaError) in
            try self.contentsWhileWanted()
        }
        return property.value(contents)
    }

    /// Loads a property on the calling thread, which may block for as long as reading takes.
    public func loadNow<Value: Sendable>(_ property: AssetProperty<Value>) throws(MediaError) -> Value {
        property.value(try contents())
    }

    /// How far the loading of a property has come; never blocks.
    public func status<Value: Sendable>(of property: AssetProperty<Value>) -> AssetPropertyStatus<Value> {
        let (result, isLoading) = loadState
        switch result {
        case .success(let contents): return .loaded(property.value(contents))
        case .failure(let error): return error.code == .cancelled ? .cancelled : .failed(error)
        case nil: return isLoading ? .loading : .unknown
        }
    }

    /// The tracks that carry something of a kind, in the container's order.
    public func loadTracks(withMediaType type: MediaType) async throws(MediaError) -> [AssetTrack] {
        try await load(.tracks).filter { $0.mediaType == type }
    }

    /// The tracks in which a person perceives something of a kind, in the container's order.
    public func loadTracks(withCharacteristic characteristic: MediaCharacteristic) async throws(MediaError)
        -> [AssetTrack]
    {
        try await load(.tracks).filter { $0.has(characteristic) }
    }
}
