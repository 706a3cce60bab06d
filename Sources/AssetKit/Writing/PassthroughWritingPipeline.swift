import ISOMedia
import LibAV
import MediaBase

/// Writes stored samples unchanged, with times counted from the session's start.
///
/// If later samples depend on samples before the session's start, those are written too and an edit list hides them.
/// Containers without edit lists start with the first sample that can be decoded on its own.
/// The pipeline's ``InputSession`` lets one thread at a time use it.
final class PassthroughWritingPipeline: EncodingPipeline, @unchecked Sendable {
    private let mediaType: MediaType
    /// The session; from the first sample on, its start lies on this track's own clock.
    private(set) var session: SessionFacts
    private let hint: AssetWriterInput.StoredHint
    private var timeBase = Rational.invalid
    /// Samples before the session's start that the first sample after it may need.
    private var early: [SampleBuffer] = []
    private var isPastStart = false
    private var hasBegun = false
    /// True while frames wait for the first one with a decode time, from which earlier decode times are derived.
    private var waitsForDecodeTime = false
    /// True while frames are dropped until the first sync sample, because the frames they depend on are missing.
    private var waitsForSync = false
    /// The presentation time of that sync sample; earlier frames that follow it depend on missing frames.
    private var firstSync: MediaTime?
    /// Frames after the session's end; they are written only if a later frame that is shown may need them.
    private var behindEnd: [SampleBuffer] = []
    /// The latest sample and the decode time of its packet.
    private var last: (packet: CompressedSample, dts: Int64?)?
    private var firstDecodeTicks: Int64?
    private var usualDuration: Int64 = 0
    /// The times of Opus packets, which the source's clock may have rounded.
    private var opusClock: OpusClock
    /// The number of samples to skip at the start of an Opus excerpt, so that playback starts at the exact sample.
    private var preSkip: Int?
    /// The time of the first stored frame, at or after the session's start, that the source does not show.
    private var firstHidden: MediaTime?
    /// The end of the linear PCM so far, by the number of its samples.
    private var soundEnd: MediaTime?
    private(set) var presented: (start: MediaTime, end: MediaTime)?
    /// Indicates whether a frame follows the session's end, so that the one before it is shown until then.
    private var isEndShown = false
    /// The source time from which on samples are stored in the file; `nil` if it has none.
    private(set) var storedFrom: MediaTime?
    /// The time from the session's start to the file's: ``lateStart(of:)``.
    private var lateStart = MediaTime.zero

    init(mediaType: MediaType, session: SessionFacts, hint: AssetWriterInput.StoredHint) {
        self.mediaType = mediaType
        self.session = session
        self.hint = hint
        opusClock = OpusClock(timescale: hint.timescale)
    }

    func append(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError) {
        guard buffer.storedSample != nil else {
            throw MediaError(.invalidArgument, "an input without settings takes stored samples; others need settings")
        }
        if !timeBase.isValid { settleClock(buffer) }
        var buffer = buffer
        if isOpus(buffer) {
            buffer = opusClock.placed(
                buffer, padding: (buffer.codecParameters ?? hint.parameters)?.initialPadding ?? 0)
        }
        // Files without edit lists cannot hide samples, so PCM is cut.
        if !session.fileType.keepsEdits, let form = PCMForm(buffer.formatDescription) {
            guard let cut = try form.cut(buffer, from: session.start, to: end) else { return }
            buffer = cut
        }
        if isDescribed ? session.start > .zero && mediaType != .timecode : mediaType == .subtitle {
            guard let cut = cut(buffer) else { return }
            buffer = cut
        }
        let begins = time(of: buffer)
        guard begins.isNumeric else { throw MediaError(.invalidArgument, "a stored sample has no time") }
        if let decode = buffer.decodeTime, decode >= end { return }
        if buffer.presentationTime.isNumeric, buffer.presentationTime >= end {
            guard mediaType == .video else { return }
            if isPastStart { behindEnd.append(buffer) } else { early.append(buffer) }
            isEndShown = true
            return
        }
        if isDescribed {
            guard buffer.storedSample.map({ $0.size > 0 }) == true else {
                throw MediaError(.unsupported, "the track has an empty sample, which a copy cannot keep")
            }
            guard begins >= .zero || begins + buffer.duration > .zero || session.start <= .zero else { return }
            return try write(buffer, decodedAt: buffer.decodeTime, to: sink)
        }
        if mediaType == .video, !buffer.presentationTime.isNumeric {
            throw MediaError(
                .unsupported, "the file does not say when all of its pictures are shown, which a copy needs; encode it")
        }
        if mediaType == .video { try refuseHidden(buffer) }
        for needed in behindEnd { try write(needed, decodedAt: needed.decodeTime, to: sink) }
        behindEnd = []
        guard !isPastStart else { return try write(buffer, decodedAt: buffer.decodeTime, to: sink) }
        let isBefore = begins < .zero && begins + buffer.duration <= .zero
        if begins < .zero, !waitsForDecodeTime {
            // One earlier packet warms up most audio decoders; video needs all frames since the last sync sample.
            if mediaType == .video {
                if buffer.isSync { early = [] }
            } else if early.count > 1,
                AudioPreRoll.isCovered(
                    codec: buffer.formatDescription.codec, withoutFirstOf: early.map { $0.storedSample?.size ?? 0 },
                    second: time(of: early[1]))
            {
                early.removeFirst()
            }
            early.append(buffer)
            if isBefore { return }
        } else {
            early.append(buffer)
        }
        // Matroska demuxers report decode times only after some frames, and a muxer would invent different ones.
        waitsForDecodeTime =
            mediaType == .video && early.count < Self.maximumUntimed && early.allSatisfy { $0.decodeTime == nil }
        if !waitsForDecodeTime { try passStart(to: sink) }
    }

    /// Throws if a shown frame follows a hidden one, because no file can hide frames between others.
    ///
    /// Overlapping fragments of MP4 contain such frames. Edit lists hide frames only before zero and after the end.
    private func refuseHidden(_ buffer: SampleBuffer) throws(MediaError) {
        let time = buffer.presentationTime
        if buffer.attachments.contains(.isNotShown) {
            guard buffer.storedSample?.packet.isDiscarded == true, time >= session.start else { return }
            firstHidden = min(firstHidden ?? time, time)
        } else if let firstHidden, time > firstHidden {
            throw MediaError(
                .unsupported,
                "the file does not show the picture of \(firstHidden.seconds) s, but later ones that may need it, which a "
                    + "copy cannot do; encode it")
        }
    }

    /// Indicates whether our own boxes describe the track, so that the file holds any kind of sample in it.
    private var isDescribed: Bool {
        session.fileType.isISO && (mediaType != .subtitle || hint.carriage?.description != nil)
            && mediaType != .video && mediaType != .audio
    }

    private func isOpus(_ buffer: SampleBuffer) -> Bool { buffer.formatDescription.codec == "opus" }

    /// The source time at which writing ends: the session's end, or an earlier end of the source's edit list if the
    /// file type has no edit lists.
    private var end: MediaTime {
        session.fileType.keepsEdits ? session.end : min(session.end, hint.end ?? .positiveInfinity)
    }

    /// Returns a subtitle cut to the session; `nil` if it lies outside.
    private func cut(_ buffer: SampleBuffer) -> SampleBuffer? {
        let begins = max(buffer.presentationTime, session.start)
        let ends = min(buffer.presentationTime + buffer.duration, end)
        let isShown = begins < ends || buffer.presentationTime >= session.start
        guard begins.isNumeric, begins < end, isShown else { return nil }
        return SampleBuffer(
            buffer, presentationTime: begins, decodeTime: begins, duration: max(.zero, ends - begins))
    }

    /// The maximum number of frames without a decode time to wait for; codecs reorder 16 at most.
    private static let maximumUntimed = 64

    private func passStart(to sink: any PacketSink) throws(MediaError) {
        isPastStart = true
        defer { early = [] }
        if mediaType == .video, !session.fileType.isISO {
            if let first = early.lastIndex(where: { $0.isSync && isOnScreenAtStart($0) }) {
                firstSync = early[first].presentationTime
                early.removeFirst(first)
            } else {
                waitsForSync = early.contains { time(of: $0) < .zero }
            }
        }
        if let first = early.first, isOpus(first), !session.fileType.isISO, session.start > .zero {
            let skipped = (-time(of: first)).sampleIndex(rate: OpusClock.rate, rounding: .halfAwayFromZero)
            preSkip = skipped.map { max(0, Int(clamping: $0)) }
        }
        for (sample, decode) in zip(early, Self.decodeTimes(of: early))
        where session.fileType.isISO || time(of: sample) >= .zero || isPriming(sample) || isOnScreenAtStart(sample) {
            try write(sample, decodedAt: decode, to: sink)
        }
    }

    /// Returns true if a frame starts before the session's start and is still shown there.
    private func isOnScreenAtStart(_ buffer: SampleBuffer) -> Bool {
        guard mediaType == .video, !buffer.attachments.contains(.isNotShown) else { return false }
        let begins = time(of: buffer)
        return begins < .zero && begins + buffer.duration > .zero
    }

    /// Returns true if a sample is encoder priming, which Matroska and Ogg mark as inaudible by themselves.
    private func isPriming(_ sample: SampleBuffer) -> Bool {
        if preSkip != nil { return true }
        guard session.fileType.keepsLateStarts || session.fileType == .ogg, session.start == .zero,
            let rate = sample.formatDescription.audio?.sampleRate,
            let padding = (sample.codecParameters ?? hint.parameters)?.initialPadding, padding > 0
        else { return false }
        let start = MediaTime(value: Int64(padding), timescale: Int32(clamping: max(1, rate)))
        // Matroska rounds times to milliseconds.
        return time(of: sample) >= -start - MediaTime(value: 1, timescale: 1000)
    }

    /// Returns the decode times of samples; those before the first known time are one frame duration apart.
    ///
    /// Matroska stores no decode times, and demuxers can derive them only after some frames.
    private static func decodeTimes(of samples: [SampleBuffer]) -> [MediaTime?] {
        let first = samples.firstIndex { $0.decodeTime != nil } ?? 0
        return samples.enumerated().map { place, sample in
            guard place < first, let known = samples[first].decodeTime else { return sample.decodeTime }
            let frame = sample.duration > .zero ? sample.duration : MediaTime(value: 1, timescale: 1000)
            return known - frame * (first - place)
        }
    }

    func finish(to sink: any PacketSink) throws(MediaError) {
        if waitsForDecodeTime, !isPastStart { try passStart(to: sink) }
        guard !waitsForSync else {
            throw MediaError(
                .outOfRange,
                "every picture in the range needs one before it, which this type of file cannot hide; copy to .mov or "
                    + ".mp4, or begin earlier")
        }
        if let (sample, dts) = last.take() {
            // In containers without durations, the last audio packet lasts as long as the codec's frames.
            var duration = sample.packet.duration
            if duration == 0, usualDuration > 0, let pts = sample.packet.pts {
                duration = usualDuration
                let end = MediaTime(ticks: pts, timeBase: timeBase) + MediaTime(ticks: duration, timeBase: timeBase)
                let before = presented?.end ?? end
                presented?.end = max(before, end)
            }
            if isEndShown, session.fileType.isISO, let shown = presented?.end, end - session.start > shown {
                presented?.end = end - session.start
                duration += (end - session.start - shown).ticks(in: timeBase, rounding: .up) ?? 0
            }
            // The tables tell how long the last sample is, if the first one was written too.
            if !session.end.isNumeric, session.start == .zero, let dts, let first = firstDecodeTicks,
                let whole = hint.mediaDuration,
                case let (passed, overflow) = dts.subtractingReportingOverflow(first), !overflow,
                let ticks = whole.ticks(in: timeBase, rounding: .halfAwayFromZero), ticks > passed, passed >= 0
            {
                duration = ticks - passed
            }
            try sink.add(
                sample.packet.retimed(pts: sample.packet.pts, dts: sample.packet.dts, duration: duration))
        }
        guard let (start, end) = presented, let edited = hint.end, session.fileType.isISO else { return }
        let shown = max(edited - session.start, start)
        presented?.end = session.end.isNumeric ? min(end, shown) : shown
    }

    private func time(of buffer: SampleBuffer) -> MediaTime {
        (buffer.presentationTime.isNumeric ? buffer.presentationTime : buffer.decodeTime ?? .indefinite) - session.start
    }

    private func write(
        _ buffer: SampleBuffer, decodedAt decodeTime: MediaTime?, to sink: any PacketSink
    ) throws(MediaError) {
        if waitsForSync {
            guard buffer.isSync else { return }
            waitsForSync = false
            firstSync = buffer.presentationTime
        }
        if let firstSync, buffer.presentationTime.isNumeric, buffer.presentationTime < firstSync { return }
        if !hasBegun {
            try begin(buffer, to: sink)
            lateStart = lateStart(of: buffer)
        }
        guard let sample = buffer.storedSample else { return }
        let start = session.start + lateStart
        func ticks(_ time: MediaTime?) -> Int64? { time?.ticks(in: timeBase, rounding: .halfAwayFromZero) }
        let begins = time(of: buffer)
        try fillHole(before: buffer, at: begins, to: sink)
        let ends = soundEnd ?? begins + buffer.duration - paddingInDuration(of: sample, buffer)
        // A Vorbis decoder outputs nothing for its first packet, so players would start late by that packet's duration.
        let isCut = session.start > .zero && begins < .zero && buffer.formatDescription.codec == "vorbis"
        if !buffer.attachments.contains(.isNotShown), begins >= .zero || ends > .zero, !isCut {
            let shown = max(begins, .zero)
            presented = (min(presented?.start ?? shown, shown), max(presented?.end ?? .zero, ends))
        }
        var presentation = buffer.presentationTime.isNumeric ? ticks(buffer.presentationTime - start) : nil
        // Readers disagree about a frame that an edit list cuts in two, so the frame starts at the cut.
        if isOnScreenAtStart(buffer) { presentation = 0 }
        if begins.isNumeric { storedFrom = min(storedFrom ?? .positiveInfinity, begins + session.start) }
        let decode = ticks(decodeTime.map { $0 - start })
        if let (before, _) = last { try sink.add(before.packet.shared()) }
        last = (
            CompressedSample(
                try sample.packet.retimed(
                    pts: presentation, dts: decode, duration: ticks(buffer.duration) ?? 0, isKey: buffer.isSync)),
            decode
        )
        firstDecodeTicks = firstDecodeTicks ?? decode
    }

    /// Returns the time from the session's start to the first audible sample if the file must start with it.
    ///
    /// The times of Ogg pages count samples from the first one (RFC 3533, 6); Opus states what precedes it.
    private func lateStart(of first: SampleBuffer) -> MediaTime {
        guard session.fileType == .ogg, session.start > .zero, !isOpus(first) else { return .zero }
        let begins = time(of: first)
        // A Vorbis decoder outputs nothing for its first packet.
        return first.formatDescription.codec == "vorbis" ? begins + first.duration : begins
    }

    /// Fills a gap before linear PCM with silence.
    ///
    /// Containers store PCM as one continuous run of samples. A gap would be closed and all later audio would play too
    /// early.
    private func fillHole(before buffer: SampleBuffer, at time: MediaTime, to sink: any PacketSink) throws(MediaError) {
        guard let form = PCMForm(buffer.formatDescription), let sample = buffer.storedSample else { return }
        let (rate, size) = (form.rate, form.frameBytes)
        // Files without timestamps start with their first sample.
        var start = soundEnd ?? (session.fileType.keepsLateStarts ? time : min(time, .zero))
        // A smaller difference is rounding by the container's clock.
        if time - start > MediaTime(value: 1, timescale: 100) {
            var left = (time - start).sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
            while left > 0 {
                let count = min(left, 8192)
                if let (before, _) = last.take() { try sink.add(before.packet.shared()) }
                let packet = try Packet.copying([UInt8](repeating: form.silence, count: Int(count) * size))
                let ticks = start.ticks(in: timeBase, rounding: .halfAwayFromZero)
                let length = MediaTime(value: count, timescale: rate)
                try sink.add(
                    packet.retimed(
                        pts: ticks, dts: ticks, duration: length.ticks(in: timeBase, rounding: .halfAwayFromZero) ?? 0,
                        isKey: true))
                start += length
                left -= count
            }
        }
        soundEnd = start + MediaTime(value: Int64(sample.size / size), timescale: rate)
    }

    /// Chooses the time base: the ticks of the samples' own times, counted from the session's start.
    private func settleClock(_ first: SampleBuffer) {
        let times = [first.presentationTime, first.decodeTime ?? .zero, first.duration]
        let own =
            hint.timescale > 0
            ? hint.timescale
            : MediaTime.commonTimescale(of: times.map(\.timescale)) ?? times.map(\.timescale).max() ?? 1
        guard let rate = first.formatDescription.audio?.sampleRate, rate > 0 else {
            timeBase = Rational(1, Int64(session.begin(onGridOf: own)))
            return
        }
        session.begin(atSampleOf: Int32(clamping: rate))
        let scale = MediaTime.commonTimescale(of: [own, session.start.timescale]) ?? own
        timeBase = Rational(1, Int64(max(1, scale)))
    }

    /// Returns the part of a packet's duration that is not heard; Matroska's durations include the padding at the end.
    private func paddingInDuration(of sample: CompressedSample, _ buffer: SampleBuffer) -> MediaTime {
        guard opusClock.isCoarse, isOpus(buffer) else { return .zero }
        return MediaTime(value: Int64(sample.packet.paddingSamples), timescale: OpusClock.rate)
    }

    private func begin(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError) {
        hasBegun = true
        if isDescribed {
            var stream = WrittenStream(parameters: try .data(), timeBase: timeBase)
            if let known = hint.carriage?.description {
                stream.description = known
            } else {
                stream.description = try TrackDescription(buffer.formatDescription)
            }
            return try sink.begin(stream)
        }
        var parameters: CodecParameters
        if let known = buffer.codecParameters ?? hint.parameters {
            parameters = known
        } else {
            parameters = try CodecParameters(buffer.formatDescription)
        }
        if session.start > .zero || session.end.isNumeric { try parameters = parameters.ofPart() }
        if let preSkip { try parameters = parameters.skipping(preSkip) }
        if parameters.isAudio, parameters.sampleRate > 0 {
            let frame = MediaTime(
                value: Int64(parameters.frameSize), timescale: Int32(clamping: parameters.sampleRate))
            usualDuration = frame.ticks(in: timeBase, rounding: .halfAwayFromZero) ?? 0
        }
        var stream = WrittenStream(parameters: parameters, timeBase: timeBase)
        stream.frameRate = hint.frameRate
        stream.sampleAspectRatio = hint.sampleAspectRatio ?? buffer.formatDescription.video?.sampleAspectRatio
        try sink.begin(stream)
    }
}
