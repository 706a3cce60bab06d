import LibAV
import MediaBase
import SystemCalls

extension Asset {
    /// Returns the number of decoders of a track that may work at once: `wanted`, or fewer for pictures so large that
    /// memory would not last (``MediaLimits/memory``).
    package func decoders(of track: AssetTrack, atMost wanted: Int) -> Int {
        decodingMemory(of: track)?.decoders(atMost: wanted) ?? wanted
    }

    /// Returns the warning that a track is decoded with fewer threads, since its pictures are large; `nil` if it is not.
    ///
    /// - Parameters:
    ///   - track: The track.
    ///   - threads: The number of threads that are wanted; 0 for one per core.
    package func warning(ofThreadsFor track: AssetTrack, wanted threads: Int) -> String? {
        guard let memory = decodingMemory(of: track) else { return nil }
        let wanted = threads > 0 ? threads : availableProcessors()
        let possible = memory.threads(atMost: wanted)
        guard possible < wanted else { return nil }
        let number = possible == 1 ? "1 thread" : "\(possible) threads"
        return
            "each picture of track \(track.index) takes \(memory.pictureBytes >> 20) MB, so it is decoded with \(number) "
            + "in place of \(wanted); raise the limit memory to use more"
    }

    private func decodingMemory(of track: AssetTrack) -> DecodingMemory? {
        guard track.mediaType == .video, let video = track.formatDescriptions.first?.video else { return nil }
        return DecodingMemory(video.encodedSize, video.pixelFormat, limits: limits)
    }
}
