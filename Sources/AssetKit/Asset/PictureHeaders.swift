package import Bitstreams
import ContainerFacts
import LibAV
package import MediaBase

// Properties stated by coded pictures themselves, independently of the container.

extension Asset {
    /// The number of bytes read from a sample; headers are at its beginning.
    private static let headerLength = 64 << 10
    /// The maximum number of packets to read while searching for the first packet of each track.
    private static let maximumPackets = 1000

    /// Reads the headers of each track's coded pictures, by the track's ``AssetTrack/index``.
    ///
    /// The headers are taken from the codec's header as stored by the container and, if this is incomplete, from the
    /// beginning of the first sample. Tracks with other codecs or unreadable headers are omitted. Nothing is decoded.
    /// For a stream that can be read only once, only the codec headers are read.
    package func pictureHeaders() throws(MediaError) -> [Int: PictureHeaders] {
        let contents = try contents()
        let tracks = contents.tracks.filter { track in
            track.mediaType == .video && !track.isAttachedPicture
                && track.formatDescriptions.first.map { PictureHeaders.codecs.contains($0.codec) } ?? false
        }
        let samples = try firstSamples(of: tracks.filter(\.needsSampleForHeaders))
        var headers: [Int: PictureHeaders] = [:]
        for track in tracks {
            guard let format = track.formatDescriptions.first else { continue }
            let read = PictureHeaders(
                codec: format.codec, header: format.extradata, sample: samples[track.index] ?? [])
            if read.sequence != nil || !read.messages.isEmpty { headers[track.index] = read }
        }
        return headers
    }

    /// Returns the HDR metadata of a track: the container's, completed by the coded pictures if it lacks brightness
    /// data.
    func hdr(of track: AssetTrack) throws(MediaError) -> HDRInfo? {
        let stored = track.formatDescriptions.first?.video?.hdr
        let isWhole = stored?.masteringDisplay != nil && stored?.contentLightLevel != nil
        // A composition's tracks have no headers of their own.
        guard backing.input != nil, !isWhole else { return stored }
        return HDRInfo(stored, headers: try pictureHeaders()[track.index])
    }

    /// Reads the beginning of each track's first sample; tracks without samples are omitted.
    private func firstSamples(of tracks: [AssetTrack]) throws(MediaError) -> [Int: [UInt8]] {
        guard !tracks.isEmpty, canBeReadAgain else { return [:] }
        var samples: [Int: [UInt8]] = [:]
        for track in tracks {
            guard let place = track.firstSample else { continue }
            let count = Int(clamping: min(UInt64(Self.headerLength), place.upperBound - place.lowerBound))
            samples[track.index] = sourceBytes(at: place.lowerBound, count: count)
        }
        var left = Set(tracks.map(\.index).filter { samples[$0] == nil })
        guard !left.isEmpty else { return samples }
        let file = try openForLookUp(nil, readsAhead: false)
        var count = 0
        while !left.isEmpty, count < Self.maximumPackets, let packet = try readOn(file) {
            count += 1
            if left.remove(packet.streamIndex) != nil {
                samples[packet.streamIndex] = packet.prefix(Self.headerLength)
            }
        }
        return samples
    }
}

extension AssetTrack {
    fileprivate var needsSampleForHeaders: Bool {
        guard let format = formatDescriptions.first else { return false }
        if format.extradata.isEmpty || PictureHeaders.codecsNeedingSample.contains(format.codec) { return true }
        // H.264 states the order of fields with its pictures.
        return format.codec == "h264"
            && PictureHeaders(codec: "h264", header: format.extradata, sample: []).sequence?.scan == .interlaced
    }
}
