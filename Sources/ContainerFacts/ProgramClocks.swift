package import LibAV
package import MediaBase

/// The clocks of a transport stream with several programs, each of which may have its own clock.
///
/// Times in a program are relative to the start of its earliest video or audio track. Programs that name the same clock
/// (`PCR_PID`), or that share such a track, have a common clock. A track that starts far from the others in its program
/// has its own clock; this happens if a service's packets were taken over from elsewhere.
///
/// ISO/IEC 13818-1, 2.4.3.6 and 2.7.
package enum ProgramClocks {
    /// The maximum distance between the start times of tracks on the same clock.
    ///
    /// libavformat searches the first 7 s for start times, and a timestamp is at most 10 s ahead of its clock.
    private static let reach = MediaTime(value: 30, timescale: 1)

    /// Returns the time that is zero for each stream of a file with several programs.
    package static func origins(of streams: [StreamInfo], in file: InputFile) -> [Int: MediaTime] {
        let starts = Dictionary(
            streams.compactMap { stream in isMedia(stream) ? stream.startTime.map { (stream.index, $0) } : nil },
            uniquingKeysWith: { first, _ in first })
        var groups: [(clocks: Set<Int>, streams: Set<Int>)] = []
        for program in file.programs {
            var group = (clocks: Set([program.clock].compactMap(\.self)), streams: Set(program.streams))
            let media = group.streams.filter { starts[$0] != nil }
            groups.removeAll { other in
                guard !other.clocks.isDisjoint(with: group.clocks) || !other.streams.isDisjoint(with: media) else {
                    return false
                }
                group = (group.clocks.union(other.clocks), group.streams.union(other.streams))
                return true
            }
            groups.append(group)
        }
        let inPrograms = groups.reduce(into: Set()) { $0.formUnion($1.streams) }
        groups.append(([], Set(streams.map(\.index)).subtracting(inPrograms)))

        var origins: [Int: MediaTime] = [:]
        for group in groups {
            let known = group.streams.compactMap { index in starts[index].map { (index, start: $0) } }
                .sorted { $0.start < $1.start }
            // The latest start time so far, and the first one on its clock.
            var (latest, origin): (MediaTime?, MediaTime) = (nil, .zero)
            for (index, start) in known {
                if latest.map({ start - $0 > reach }) ?? true { origin = start }
                origins[index] = origin
                latest = start
            }
        }
        // Other streams of a program use the origin of its video, or else of its first audio.
        for program in file.programs {
            let media = program.streams.filter { starts[$0] != nil }
            let lead = media.first { index in streams.contains { $0.index == index && $0.format.mediaType == .video } }
            guard let origin = (lead ?? media.first).flatMap({ origins[$0] }) else { continue }
            for index in program.streams {
                let start = streams.first { $0.index == index }?.startTime
                let isInReach = start.map { isNear($0, origin) } ?? true
                if origins[index] == nil || (starts[index] == nil && isInReach) { origins[index] = origin }
            }
        }
        return origins
    }

    /// Removes the times of a stream that is neither video nor audio if they are not on its program's clock.
    ///
    /// libavformat gives the container's times to data and text streams for which it knows none. Other times start
    /// before the clock of their program is known.
    package static func forgetForeignTimes(of stream: inout StreamInfo, origins: [Int: MediaTime], in file: InputFile) {
        guard !isMedia(stream), let start = stream.startTime else { return }
        let isMadeUp = stream.duration.map { duration in file.duration.map { isSame($0, duration) } ?? false } ?? false
        guard isMadeUp || !(origins[stream.index].map { isNear(start, $0) } ?? false) else { return }
        stream.startTime = nil
        stream.duration = nil
    }

    private static func isMedia(_ stream: StreamInfo) -> Bool {
        (stream.format.mediaType == .video || stream.format.mediaType == .audio) && stream.attachedPicture == nil
    }

    private static func isNear(_ time: MediaTime, _ other: MediaTime) -> Bool {
        time - other <= reach && other - time <= reach
    }

    /// Returns true if two times are equal apart from rounding to a microsecond or to the stream's clock.
    private static func isSame(_ time: MediaTime, _ other: MediaTime) -> Bool {
        let difference = time - other
        let most = MediaTime(value: 1, timescale: 10_000)
        return difference <= most && .zero - difference <= most
    }
}
