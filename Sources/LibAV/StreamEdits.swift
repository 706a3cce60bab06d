package import MediaBase

/// Where a stream's media is shown, in ticks of its time base: a container's edit list, as our own reader of it has it.
///
/// libavformat is told to leave edit lists alone, so that times do not depend on its version; ``InputFile`` gives packets
/// the times that these parts say.
package struct StreamEdits: Hashable, Sendable {
    /// A stretch of the media that is shown in one go.
    package struct Part: Hashable, Sendable {
        /// When it begins on the presentation's time line.
        package var start: Int64
        /// When it ends there; `Int64.max` where it goes on to the end of the media.
        package var end: Int64
        /// The media's time that is shown at its start.
        package var mediaStart: Int64
        /// When the picture begins in the media that is on screen at ``mediaStart``; of sound the same as that.
        package var firstPicture: Int64
        /// How much faster than normal it plays; 0 where one moment of the media stands still.
        package var rate: Rational

        package init(start: Int64, end: Int64, mediaStart: Int64, firstPicture: Int64, rate: Rational) {
            self.start = start
            self.end = end
            self.mediaStart = mediaStart
            self.firstPicture = min(firstPicture, mediaStart)
            self.rate = rate
        }
    }

    /// The parts in the order of the presentation; what lies between them is empty.
    package var parts: [Part]

    /// - Parameter parts: The parts in order; those that continue each other become one.
    package init(_ parts: [Part]) {
        self.parts = parts.reduce(into: []) { joined, part in
            if let last = joined.last, last.end == part.start, last.rate == .one, part.rate == .one,
                last.mediaEnd == part.mediaStart
            {
                joined[joined.count - 1].end = part.end
            } else {
                joined.append(part)
            }
        }
    }

    /// The single stretch that plays at normal speed; `nil` where there are several, or one at another speed.
    var simple: Part? { parts.count == 1 && parts[0].rate == .one ? parts[0] : nil }

    /// Whether the decoder has to leave out the samples of sound that lie outside the parts: what lies before time zero, and
    /// after the end, whoever reads cuts anyway.
    package var trims: Bool { parts.count > 1 || parts.contains { $0.start > 0 && $0.mediaStart > 0 } }

    /// Where a moment of the media is first shown, or the part after it begins; as it is where there are no parts.
    package func time(ofMedia ticks: Int64) -> Int64 {
        guard let part = parts.first(where: { ticks < $0.mediaEnd }) ?? parts.last else { return ticks }
        return max(part.start, part.time(ofMedia: ticks))
    }

    /// The number of the part that is shown at a moment, or the one before it; 0 where there is none before.
    func part(at time: Int64) -> Int {
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = low + (high - low) / 2
            if parts[middle].start <= time { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }
}

extension StreamEdits.Part {
    /// Where the media ends that it shows; just after ``mediaStart`` where that stands still.
    package var mediaEnd: Int64 {
        if end == .max { return .max }
        if rate.num == 0 { return mediaStart.addingClamped(1) }
        return mediaStart.addingClamped(scaled(end.subtractingClamped(start), by: rate))
    }

    /// When a moment of the media is shown; one before the part's start as if it played at normal speed until there.
    func time(ofMedia ticks: Int64) -> Int64 {
        let passed = ticks.subtractingClamped(mediaStart)
        guard passed > 0, rate != .one else { return start.addingClamped(passed) }
        guard let slowness = rate.inverse else { return start }
        return start.addingClamped(scaled(passed, by: slowness))
    }

    /// The moment of the media that is shown at a time.
    func mediaTime(at time: Int64) -> Int64 {
        let passed = time.subtractingClamped(start)
        guard passed > 0, rate != .one else { return mediaStart.addingClamped(passed) }
        return mediaStart.addingClamped(scaled(passed, by: rate))
    }

    /// How long something of the media is shown.
    func duration(ofMedia ticks: Int64) -> Int64 {
        rate == .one || rate.num == 0 ? ticks : scaled(ticks, by: rate.inverse ?? .one)
    }

    private func scaled(_ ticks: Int64, by factor: Rational) -> Int64 {
        guard factor != .one else { return ticks }
        return Rational(ticks, 1).multiplied(by: factor)?.rounded() ?? .max
    }
}
