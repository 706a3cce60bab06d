import LibAV
import MediaBase

/// The clocks of a transport stream that holds several programs, each of which may have its own.
///
/// A program's tracks are counted from where the first of them begins, of those that are seen or heard. Programs that name
/// the same clock (`PCR_PID`), or that share such a track, have one. A track that is nowhere near the others of its program
/// has a clock of its own, as happens where a service's packets were taken over from elsewhere.
///
/// ISO/IEC 13818-1, 2.4.3.6 and 2.7.
enum ProgramClocks {
    /// How far tracks of one clock may begin apart from each other.
    ///
    /// libavformat looks for their starts in the first 7 s, and a time stamp is at most 10 s ahead of its clock.
    private static let reach = MediaTime(value: 30, timescale: 1)

    /// The time that is zero for each stream; empty where there are no two programs.
    static func origins(of streams: [StreamInfo], in file: InputFile) -> [Int: MediaTime] {
        let programs = file.programs
        guard programs.count > 1 else { return [:] }
        let starts = Dictionary(
            streams.compactMap { stream in isMedia(stream) ? stream.startTime.map { (stream.index, $0) } : nil },
            uniquingKeysWith: { first, _ in first })
        var groups: [(clocks: Set<Int>, streams: Set<Int>)] = []
        for program in programs {
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
            // The latest start so far, and the first of its clock.
            var (latest, origin): (MediaTime?, MediaTime) = (nil, .zero)
            for (index, start) in known {
                if latest.map({ start - $0 > reach }) ?? true { origin = start }
                origins[index] = origin
                latest = start
            }
        }
        // What else is in a program goes by its pictures, or its first sound.
        for program in programs {
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

    /// Takes times away that are not on the clock of a stream's program: those of data and text of which libavformat knows
    /// none and gives the container's, or those that begin before their program's clock is known.
    static func forgetForeignTimes(of stream: inout StreamInfo, origins: [Int: MediaTime], in file: InputFile) {
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

    /// Reports whether a time is another that was rounded to a microsecond, or to the stream's clock.
    private static func isSame(_ time: MediaTime, _ other: MediaTime) -> Bool {
        let difference = time - other
        let most = MediaTime(value: 1, timescale: 10_000)
        return difference <= most && .zero - difference <= most
    }
}
