import Bitstreams
import ISOMedia
package import LibAV
import MediaBase

// Format details in a stream's boxes that libavformat 5.1 does not expose.

extension ISOMovie {
    /// Adds to a stream the format details that are only in the boxes.
    ///
    /// - Parameter warnings: Receives a sentence for each value that cannot be used as written.
    package func complete(_ stream: inout StreamInfo, warnings: inout [String]) {
        let numbered = UInt32(exactly: stream.id).flatMap { header.track(id: $0) }
        if let date = numbered?.media?.creationTime { Self.setDate(date, in: &stream.metadata) }
        guard let id = UInt32(exactly: stream.id), let track = numbered,
            let first = track.sampleEntries.first
        else { return }
        let isData = stream.format.mediaType == .data || stream.format.mediaType == .timecode
        if isData, stream.format.extradata.isEmpty, let description = track.carriage?.description {
            stream.format.extradata = description.formatFields
        }
        if let size = stream.format.video?.encodedSize {
            stream.format.video?.cleanAperture = Self.aperture(first, in: size, track: id, warnings: &warnings)
            stream.containerColor = first.visual.flatMap { ColorInfo($0.colors) }
            stream.containerFieldOrder = first.visual?.fields?.order
            stream.containerSize = first.visual.map { Dimensions(width: Int($0.width), height: Int($0.height)) }
            stream.format.video?.gamma = first.visual?.gamma.map { Rational(Int64($0), 1 << 16) }
        }
        if stream.containerColor?.range != nil, ["h264", "hevc"].contains(stream.format.codec) {
            // If both state a range, frames are decoded with their own; libavformat 9 reports that of the container.
            let headers = PictureHeaders(codec: stream.format.codec, header: stream.format.extradata, sample: [])
            if let range = headers.color?.range { stream.format.video?.color.range = range }
        }
        if stream.format.video != nil {
            let ratio = Self.pixelAspect(first, of: stream, warnings: &warnings)
            stream.format.video?.sampleAspectRatio = ratio
        }
        // libavformat knows only the fragments that it has read, and divides by a duration that depends on its version.
        if header.isFragmented { stream.format.bitRate = nil }
        if stream.format.bitRate == nil, let rate = first.bitRates?.average, rate > 0 {
            stream.format.bitRate = Int64(rate)
        }
        if let rate = first.bitRates?.maximum, rate > 0 { stream.format.maximumBitRate = Int64(rate) }
        stream.format.audio?.setCut(of: track, in: header)
        stream.containerSpeakers = first.sound.flatMap { Self.speakers(of: $0, besides: stream.format) }
        // A rate of 65,536 Hz or more does not fit into the field.
        stream.containerSampleRate = first.sound.flatMap { $0.sampleRate > 0 ? Int(clamping: $0.sampleRate) : nil }
        // libavformat exposes only the first entry; a file can declare any number of others.
        for entry in track.sampleEntries.dropFirst().prefix(Self.maximumFormats) {
            stream.furtherFormats.append(Self.format(entry, like: stream.format, track: id, warnings: &warnings))
        }
    }

    /// Puts the movie's own date into its metadata.
    package func completeDate(of entries: inout [(key: String, value: String)]) {
        if let date = header.creationTime { Self.setDate(date, in: &entries) }
    }

    /// Replaces libavformat's date with that of the header; libavformat 9 joins several dates with a semicolon.
    private static func setDate(_ date: String, in entries: inout [(key: String, value: String)]) {
        guard let place = entries.firstIndex(where: { $0.key == "creation_time" }) else { return }
        entries[place].value = date
    }

    private static let maximumFormats = 100

    /// Returns the pixel aspect ratio: `pasp`, or else that of the coded pictures times any unequal scaling by the
    /// matrix.
    ///
    /// - Parameter warnings: Receives a sentence if `pasp` and the coded pictures disagree.
    private static func pixelAspect(
        _ entry: SampleEntry, of stream: StreamInfo, warnings: inout [String]
    ) -> Rational? {
        let written = entry.visual?.pixelAspect.map {
            Rational(Int64($0.horizontalSpacing), Int64($0.verticalSpacing))
        }
        guard let written, written.isPositive else {
            let stretch = stream.displayMatrix.map { PictureTransform(matrix: $0).pixelStretch } ?? .one
            guard stretch != .one else { return stream.codedPixelAspect }
            return stretch.multiplied(by: stream.codedPixelAspect ?? .one)
        }
        // In standard definition, some count 704 and others 720 pixels across the same screen: a difference within 5
        // percent.
        if let coded = stream.codedPixelAspect, (coded.doubleValue / written.doubleValue - 1).magnitude > 0.05 {
            warnings.append(
                "track \(stream.id) has pixels of \(written.num):\(written.den) by its container and of "
                    + "\(coded.num):\(coded.den) by its coded pictures; the container's are taken")
        }
        return written
    }

    /// Returns the loudspeakers that a sound entry states and libavformat does not.
    ///
    /// libavformat knows layouts only in the order of its masks, and mistakes descriptions of single channels for such
    /// a layout.
    private static func speakers(of entry: SoundSampleEntry, besides format: FormatDescription) -> [String]? {
        guard let layout = entry.speakers, let audio = format.audio, layout.speakers.count == audio.channels,
            !layout.speakers.isEmpty, !layout.speakers.contains("")
        else { return nil }
        // Decoders of other codecs reorder the channels to the order of the mask.
        let isMistaken = format.codec.hasPrefix("pcm_") && !layout.isInMaskOrder
        return audio.channelLayout.knownName == nil || isMistaken ? layout.speakers : nil
    }

    private static func aperture(
        _ entry: SampleEntry, in size: Dimensions, track: UInt32, warnings: inout [String]
    ) -> CleanAperture? {
        guard let fields = entry.visual?.cleanAperture else { return nil }
        do throws(MediaError) {
            let aperture = try Self.placed(fields, of: entry, in: size)
            if aperture.exceedsPicture {
                warnings.append("the clean aperture (clap) of track \(track) reaches beyond the picture")
            }
            return aperture
        } catch {
            warnings.append("the clean aperture (clap) of track \(track) \(error.message) and was left out")
            return nil
        }
    }

    /// Converts an aperture from the picture size that the sample entry states to the coded size.
    private static func placed(
        _ fields: CleanApertureFields, of entry: SampleEntry, in size: Dimensions
    ) throws(MediaError) -> CleanAperture {
        guard let visual = entry.visual else { return try fields.aperture(in: size) }
        let stated = StatedPicture(
            Dimensions(width: Int(visual.width), height: Int(visual.height)), entry: entry.format, coded: size)
        let aperture = try fields.aperture(in: stated.size)
        guard let across = aperture.horizontalOffset.adding(stated.across),
            let offset = aperture.verticalOffset.adding(stated.down)
        else { throw MediaError(.damaged, "lies outside the picture") }
        return try CleanAperture(
            width: aperture.width, height: aperture.height, horizontalOffset: across, verticalOffset: offset, in: size)
    }

    /// Creates a format description from a sample entry alone.
    private static func format(
        _ entry: SampleEntry, like first: FormatDescription, track: UInt32, warnings: inout [String]
    ) -> FormatDescription {
        let tag = entry.format.text
        var format = FormatDescription(
            mediaType: first.mediaType,
            codec: FormatDescription.codec(ofTag: tag, mediaType: first.mediaType) ?? "unknown", codecTag: tag,
            bitRate: entry.bitRates.flatMap { $0.average > 0 ? Int64($0.average) : nil },
            extradata: entry.configuration)
        format.maximumBitRate = entry.bitRates.flatMap { $0.maximum > 0 ? Int64($0.maximum) : nil }
        if let visual = entry.visual {
            let size = Dimensions(width: Int(visual.width), height: Int(visual.height))
            let aspect = visual.pixelAspect.map {
                Rational(Int64($0.horizontalSpacing), Int64($0.verticalSpacing))
            }
            format.video = VideoFormat(
                encodedSize: size, sampleAspectRatio: aspect.flatMap { $0.isPositive ? $0 : nil },
                cleanAperture: aperture(entry, in: size, track: track, warnings: &warnings),
                color: ColorInfo(visual.colors) ?? ColorInfo(), fieldOrder: visual.fields?.order)
        }
        if let sound = entry.sound {
            let channels = Int(clamping: sound.channels)
            format.audio = AudioFormat(
                sampleRate: Int(clamping: sound.sampleRate),
                channelLayout: ChannelLayout(channels: channels, name: "\(channels) channels"))
        }
        return format
    }
}

extension AudioFormat {
    /// Sets priming and remainder to the samples that an edit list cuts off at the two ends.
    ///
    /// They replace libavformat's values, which depend on its version. This applies only if a single part of the media
    /// is played at its normal speed. Sample n is kept if n / rate is before the end of the edit.
    fileprivate mutating func setCut(of track: MovieTrack, in movie: MovieHeader) {
        (priming, remainder) = (nil, nil)
        guard sampleRate > 0, let edits = track.edits?.filter({ !$0.isEmpty }), edits.count == 1,
            let edit = edits.first,
            edit.rateInteger == 1, edit.mediaTime >= 0, let mediaScale = track.media?.timescale,
            let movieScale = movie.timescale
        else { return }
        let rate = Rational(Int64(sampleRate))
        func samples(_ ticks: Int64, _ timescale: UInt32, _ rule: RoundingRule) -> Int64? {
            Rational(ticks, Int64(timescale)).multiplied(by: rate)?.rounded(rule)
        }
        guard let before = samples(edit.mediaTime, mediaScale, .halfAwayFromZero) else { return }
        priming = Int(before)
        // A duration of 0 extends to the end; for fragments, the total is not that of the tables.
        guard edit.segmentDuration > 0, !movie.isFragmented, let length = Int64(exactly: edit.segmentDuration),
            let total = track.tables?.timeToSample?.duration, let total = Int64(exactly: total),
            let all = samples(total, mediaScale, .halfAwayFromZero), let kept = samples(length, movieScale, .up)
        else { return }
        remainder = Int(max(0, all.subtractingClamped(before).subtractingClamped(kept)))
    }
}

extension FieldHandling {
    /// The field order; `nil` if unknown.
    fileprivate var order: FieldOrder? {
        count == 1 ? .progressive : count == 2 ? FieldOrder(detail: detail) : nil
    }
}

extension ColorInfo {
    /// Reads the code points of `colr` boxes; `nil` if there are none.
    fileprivate init?(_ boxes: [ColorParameters]) {
        for box in boxes {
            switch box {
            case .nclx(let primaries, let transfer, let matrix, let isFullRange):
                self.init(primaries: primaries, transfer: transfer, matrix: matrix, isFullRange: isFullRange)
            case .nclc(let primaries, let transfer, let matrix):
                self.init(primaries: primaries, transfer: transfer, matrix: matrix, isFullRange: nil)
            case .other: continue
            }
            if !isUnknown { return }
        }
        return nil
    }
}

extension TrackAperture {
    /// Reads the sizes of a `tapt` box; `nil` if there are none.
    init?(_ boxes: TrackApertures?) {
        guard let boxes else { return nil }
        self.init(
            clean: boxes.clean.map { Size($0) }, production: boxes.production.map { Size($0) },
            encoded: boxes.encoded.map { Size($0) })
        guard self != TrackAperture() else { return nil }
    }
}

extension TrackAperture.Size {
    fileprivate init(_ size: FixedPointSize) {
        self.init(width: Rational(Int64(size.width), 1 << 16), height: Rational(Int64(size.height), 1 << 16))
    }
}

extension TrackTimecode {
    /// Reads the timecode of a `tmcd` track; `nil` for other tracks, for plain counters, and if the numbers are
    /// invalid.
    ///
    /// The rate is derived from the duration of a frame and rounded. The number of frames per second in the same box is
    /// 29 in files of some cameras whose counter runs at 30.
    init?(_ track: MovieTrack) {
        guard let entry = track.sampleEntries.first?.timecode, let counter = track.timecodeCounter,
            entry.flags & 8 == 0, entry.frameDuration > 0, let timescale = Int32(exactly: entry.timescale),
            timescale > 0,
            let nominal = Rational(Int64(timescale), Int64(entry.frameDuration)).rounded(),
            let rate = Self.rate(nominal, duration: entry.frameDuration, timescale, drops: entry.flags & 1 != 0)
        else { return nil }
        let number = entry.flags & 4 != 0 ? Int64(Int32(bitPattern: counter)) : Int64(counter)
        self.init(
            start: Timecode(frameNumber: number, rate: rate), source: entry.sourceName,
            writtenFrameCount: Int(entry.numberOfFrames))
    }

    private static func rate(_ nominal: Int64, duration: UInt32, _ timescale: Int32, drops: Bool) -> Timecode.Rate? {
        guard let nominal = Int(exactly: nominal) else { return nil }
        let duration = MediaTime(value: Int64(duration), timescale: timescale)
        return try? Timecode.Rate(nominal: nominal, frameDuration: duration, isDropFrame: drops)
    }
}
