import AssetKit
import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Movies that are written in fragments and segments, read by ffprobe and ffmpeg.
@Suite struct FragmentWriterTests {
    /// The types of the boxes at the top level.
    private func boxes(_ bytes: [UInt8]) -> [String] {
        var (types, place): ([String], Int) = ([], 0)
        while place + 8 <= bytes.count {
            let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            types.append(String(decoding: bytes[place + 4..<place + 8], as: UTF8.self))
            place += max(8, size)
        }
        return types
    }

    private func copy(_ fixture: String, to writer: AssetWriter) throws {
        try Reencoder(asset: try Media.asset(fixture), writer: writer, video: .copy, audio: .copy).runNow()
    }

    /// A writer of sound in fragments, whose session has started.
    private func soundInFragments(
        of interval: MediaTime, to file: Written
    ) throws -> (writer: AssetWriter, input: AssetWriterInput) {
        let writer = try file.writer(.mp4)
        writer.movieFragmentInterval = interval
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac))
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        return (writer, input)
    }

    // MARK: Fragments

    @Test(arguments: [
        ("av.mp4", "mp4"), ("av.mp4", "mov"), ("h264-bframes.mp4", "mp4"), ("vfr.mp4", "mov"), ("prores.mov", "mov"),
        ("hevc-10bit.mp4", "mp4"), ("late-audio.mp4", "mp4"), ("late-video.mp4", "mov"), ("aac-5.1.m4a", "m4a"),
        ("h264-opengop.mp4", "mov"), ("many-tracks.mp4", "mov"), ("rotated-90.mov", "mp4"),
    ])
    func fragmentsHoldTheSamplesOfTheWholeFile(fixture: String, ending: String) throws {
        let type = try #require(MediaFileType(pathExtension: ending))
        let (whole, cut) = (try Written("whole.\(ending)"), try Written("cut.\(ending)"))
        try copy(fixture, to: try whole.writer(type))
        let writer = try cut.writer(type)
        writer.movieFragmentInterval = MediaTime(value: 1, timescale: 2)
        try copy(fixture, to: writer)
        let types = boxes(Array(try Data(contentsOf: URL(fileURLWithPath: cut.path))))
        #expect(types.count { $0 == "moof" } > (fixture == "prores.mov" ? 0 : 1), "\(types)")
        for stream in ["v:0", "a:0", "a:1"] {
            // ffprobe shows priming that an edit list hides in different ways.
            func listed(_ path: String) throws -> [String] {
                try Written.packets(path, stream).filter { !$0.hasPrefix("-") && !$0.hasPrefix(",") }
            }
            let (found, wanted) = (try listed(cut.path), try listed(whole.path))
            #expect(found == wanted, "\(stream)")
        }
        let (cutTracks, wholeTracks) = (try cut.asset.loadNow(.tracks), try whole.asset.loadNow(.tracks))
        for (cut, whole) in zip(cutTracks, wholeTracks) where whole.mediaType != .timecode {
            #expect(cut.timeRange.start == whole.timeRange.start)
            #expect(cut.preferredTransform == whole.preferredTransform)
            #expect(cut.language == whole.language)
        }
        let messages = try Program.run("ffmpeg", ["-v", "warning", "-i", cut.path, "-f", "null", "-"]).error
        #expect(messages.isEmpty, "\(messages)")
    }

    @Test func aFileInFragmentsHasItsNameFromTheFirstOn() throws {
        let file = try Written("o.mp4")
        let (writer, input) = try soundInFragments(of: MediaTime(value: 1, timescale: 1), to: file)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        var place = 0
        while !FileManager.default.fileExists(atPath: file.path), place < 480_000 {
            try input.appendNow(try Made.buffer(Made.noise(4800, from: place), at: place))
            place += 4800
        }
        // The first fragment ends with the first packet at or after its interval; some samples wait in the encoder.
        #expect(place >= 48000 && place < 96000, "\(place)")
        let duration = try file.asset.loadNow(.duration)
        #expect(duration >= MediaTime(value: 99, timescale: 100) && duration < MediaTime(value: 11, timescale: 10))
        writer.cancelWriting()
        #expect(try file.folder.names().isEmpty)
    }

    @Test func aGrowingFileIsSeenToGrow() async throws {
        let file = try Written("o.mp4")
        let (writer, input) = try soundInFragments(of: MediaTime(value: 1, timescale: 1), to: file)
        // Appends until the file has so many fragments more than none.
        var place = 0
        func append(until seconds: Int) throws {
            while place < seconds * 48000 {
                try input.appendNow(try Made.buffer(Made.noise(4800, from: place), at: place))
                place += 4800
            }
            // Samples wait in the encoder's queue.
            while !FileManager.default.fileExists(atPath: file.path) { usleep(1000) }
        }
        try append(until: 2)
        var durations: [MediaTime] = []
        for try await asset in FragmentedAssetMinder(path: FilePath(file.path), mindingInterval: .milliseconds(5)) {
            durations.append(try await asset.load(.duration))
            if durations.count == 4 { break }
            try append(until: 2 * (durations.count + 1))
        }
        #expect(durations.count == 4 && durations == durations.sorted() && Set(durations).count == 4)
        writer.cancelWriting()
        let minder = Task { [path = file.path] in
            for try await _ in FragmentedAssetMinder(path: FilePath(path)) {}
        }
        await #expect(throws: MediaError.self) { try await minder.value }
    }

    @Test func aFileThatTookTheNameOfAFragmentedOneIsKept() throws {
        let file = try Written("o.mp4")
        let (writer, input) = try soundInFragments(of: MediaTime(value: 1, timescale: 10), to: file)
        for place in stride(from: 0, to: 480_000, by: 4800)
        where !FileManager.default.fileExists(atPath: file.path) {
            try input.appendNow(try Made.buffer(Made.noise(4800, from: place), at: place))
        }
        try FileManager.default.removeItem(atPath: file.path)
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: file.path))
        writer.cancelWriting()
        #expect(try file.folder.bytes("o.mp4") == [1, 2, 3])
    }

    @Test func fragmentsNeedAFileTypeThatHasThem() throws {
        let file = try Written("o.mkv")
        let writer = try file.writer(.mkv)
        writer.movieFragmentInterval = MediaTime(value: 1, timescale: 1)
        try writer.add(AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac)))
        #expect(errorCode { try writer.startWriting() } == .unsupported)
        #expect(try file.folder.names().isEmpty)
        let other = try Written("o.mp4").writer(.mp4)
        other.movieFragmentInterval = .zero
        try other.add(AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac)))
        #expect(errorCode { try other.startWriting() } == .invalidArgument)
    }

    // MARK: Sinks

    @Test(arguments: [MediaFileType.mp4, .mov, .mkv])
    func aSinkReceivesTheBytesOfTheFile(type: MediaFileType) throws {
        let file = try Written("o.\(type)")
        try copy("av.mp4", to: try file.writer(type))
        let memory = MemorySink()
        try copy("av.mp4", to: try AssetWriter(sink: memory, fileType: type))
        #expect(memory.isFinished)
        #expect(try memory.bytes == file.folder.bytes("o.\(type)"))
    }

    @Test func aSinkReceivesFragmentsAsTheyAreMade() throws {
        let file = try Written("o.mp4")
        let writer = try file.writer(.mp4)
        writer.movieFragmentInterval = MediaTime(value: 1, timescale: 2)
        try copy("av.mp4", to: writer)
        let memory = MemorySink()
        let streaming = try AssetWriter(sink: memory, fileType: .mp4)
        streaming.movieFragmentInterval = MediaTime(value: 1, timescale: 2)
        try copy("av.mp4", to: streaming)
        #expect(try memory.bytes == file.folder.bytes("o.mp4"))
        let asset = Asset(bytes: memory.bytes)
        let whole = try Media.asset("av.mp4")
        #expect(try asset.loadNow(.duration) == whole.loadNow(.duration))
    }

    @Test func aFullSinkFailsTheWriter() throws {
        struct Full: ByteSink {
            let isDiscarded = Flag()
            func write(_ bytes: [UInt8]) throws(MediaError) { throw MediaError(.inputOutput, "the bucket is full") }
            func finish() {}
            func discard() { isDiscarded.raise() }
        }
        for interval in [MediaTime.invalid, MediaTime(value: 1, timescale: 2)] {
            let sink = Full()
            let writer = try AssetWriter(sink: sink, fileType: .mp4, name: "bucket/o.mp4")
            writer.movieFragmentInterval = interval
            let error = #expect(throws: MediaError.self) { try copy("av.mp4", to: writer) }
            #expect(error?.message == "the bucket is full")
            #expect(error?.path == "bucket/o.mp4")
            #expect(sink.isDiscarded.isRaised)
            #expect(writer.status == .failed)
        }
    }

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isRaised: Bool { value.withLock { $0 } }
        func raise() { value.withLock { $0 = true } }
    }

    // MARK: Segments

    /// The segments of a fixture, copied or encoded.
    private func segments(
        of fixture: String, every interval: MediaTime, encodes: Bool, as type: MediaFileType = .mp4
    ) throws -> [AssetSegment] {
        let received = Segments()
        let writer = try AssetWriter(segmentsOf: type) { segment in received.add(segment) }
        writer.preferredOutputSegmentInterval = interval
        var video = VideoOutputSettings(codec: .h264)
        video.speed = .fastest
        try Reencoder(
            asset: try Media.asset(fixture), writer: writer, video: encodes ? .encode(video) : .copy,
            audio: encodes ? .encode(AudioOutputSettings(codec: .aac)) : .copy
        ).runNow()
        return received.all
    }

    private final class Segments: Sendable {
        private let list = Mutex<[AssetSegment]>([])
        var all: [AssetSegment] { list.withLock { $0 } }
        func add(_ segment: AssetSegment) { list.withLock { $0.append(segment) } }
    }

    @Test(arguments: [
        ("av.mp4", true), ("h264-bframes.mp4", false), ("h264-bframes.mp4", true), ("vfr.mp4", true),
        ("late-audio.mp4", true), ("late-video.mp4", true), ("aac-5.1.m4a", true), ("mid-gop-edit.mp4", true),
        ("h264-opengop.mp4", false), ("mjpeg.avi", true),
    ])
    func reportsEqualTheTimesOfTheSegments(fixture: String, encodes: Bool) throws {
        let parts = try segments(of: fixture, every: MediaTime(value: 1, timescale: 2), encodes: encodes)
        let header = try #require(parts.first)
        #expect(header.kind == .initialization && header.report == nil)
        #expect(boxes(header.data) == ["ftyp", "moov"])
        let folder = try TemporaryFolder()
        var ends: [Int: MediaTime] = [:]
        for (number, segment) in parts.dropFirst().enumerated() {
            #expect(segment.kind == .media)
            #expect(boxes(segment.data) == ["styp", "moof", "mdat"])
            let path = try folder.write("\(number).mp4", header.data + segment.data)
            for track in try #require(segment.report).tracks {
                let times = try FFmpeg.probe([
                    "-select_streams", "\(track.trackID - 1)", "-show_entries", "packet=pts_time,duration_time,flags",
                    "-of",
                    "csv=p=0", path,
                ]).map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
                let starts = times.compactMap { Double($0[0]) }
                let last = times.compactMap { fields in Double(fields[0]).map { $0 + (Double(fields[1]) ?? 0) } }.max()
                let (start, end) = (try #require(starts.min()), try #require(last))
                let reported = track.earliestPresentationTime
                // An encoder's priming is stored before the sound, and hidden by the edit list.
                let priming = track.mediaType == .audio && ends[track.trackID] == nil ? 1024.0 / 44100 : 0
                let hidden = reported.seconds - max(0, start)
                #expect(hidden > -0.00001 && hidden < priming + 0.00001, "\(number) \(track.mediaType)")
                // ffprobe guesses how long the last picture is shown, and takes the last packet of sound for a whole one.
                let isLast = !parts.dropFirst(number + 2).contains { part in
                    part.report?.tracks.contains { $0.trackID == track.trackID } ?? false
                }
                let room = track.mediaType == .video ? (isLast ? 0.2 : 0.11) : isLast ? 1024.0 / 44100 : 0.00002
                #expect(abs((reported + track.duration).seconds - end) < room, "\(number) \(track.mediaType)")
                if track.mediaType == .audio, let before = ends[track.trackID] { #expect(before == reported) }
                ends[track.trackID] = reported + track.duration
                guard track.mediaType == .video else { continue }
                let sample = try #require(track.firstVideoSample)
                #expect(sample.isSync && times.first?[2].hasPrefix("K") == true)
                let places = try FFmpeg.probe([
                    "-select_streams", "\(track.trackID - 1)", "-show_entries", "packet=pos,size", "-of", "csv=p=0",
                    path,
                ])
                #expect(
                    places.first.map { $0.split(separator: ",").prefix(2).joined(separator: ",") }
                        == "\(sample.length),\(header.data.count + sample.offset)")
            }
        }
    }

    @Test func encodersBeginEachSegmentWithAKeyframe() throws {
        let parts = try segments(of: "vfr.mp4", every: MediaTime(value: 1, timescale: 4), encodes: true)
        for (number, segment) in parts.dropFirst().enumerated() {
            let track = try #require(segment.report?.tracks.first { $0.mediaType == .video })
            let bound = MediaTime(value: Int64(number), timescale: 4)
            // The first frame at or after the boundary; a frame of this file lasts at most a tenth of a second.
            #expect(track.earliestPresentationTime >= bound)
        }
    }

    @Test func segmentsDecodeToThePicturesAndSoundOfTheFile() throws {
        for (fixture, encodes) in [("h264-bframes.mp4", false), ("av.mp4", true), ("late-video.mp4", true)] {
            let parts = try segments(of: fixture, every: MediaTime(value: 1, timescale: 2), encodes: encodes)
            let folder = try TemporaryFolder()
            let joined = try folder.write("joined.mp4", parts.flatMap(\.data))
            let whole = try Written("whole.mp4")
            var video = VideoOutputSettings(codec: .h264)
            video.speed = .fastest
            try Reencoder(
                asset: try Media.asset(fixture), writer: try whole.writer(.mp4),
                video: encodes ? .encode(video) : .copy,
                audio: encodes ? .encode(AudioOutputSettings(codec: .aac)) : .copy
            ).runNow()
            #expect(try Written.frameTimes(joined) == Written.frameTimes(whole.path), "\(fixture)")
            if encodes {
                #expect(try Written.sound(Asset(path: FilePath(joined))) == Written.sound(whole.asset), "\(fixture)")
            } else {
                #expect(try Written.packets(joined, "v:0") == Written.packets(whole.path, "v:0"))
            }
        }
    }

    @Test(arguments: ["av.mp4", "hevc-10bit.mp4"])
    func playlistsSayWhatThoseOfFFmpegSay(fixture: String) throws {
        let parts = try segments(of: fixture, every: MediaTime(value: 1, timescale: 1), encodes: false)
        var playlist = HLSPlaylist(initialization: "init.mp4")
        for (number, segment) in parts.enumerated() { playlist.append("\(number).m4s", segment) }
        playlist.isComplete = true
        let lines = playlist.text.split(separator: "\n")
        #expect(lines.first == "#EXTM3U" && lines.last == "#EXT-X-ENDLIST")
        #expect(lines.contains("#EXT-X-MAP:URI=\"init.mp4\""))
        let folder = try TemporaryFolder()
        let joined = try folder.write("joined.mp4", parts.flatMap(\.data))
        _ = try FFmpeg.run([
            "-i", joined, "-c", "copy", "-tag:v", fixture.hasPrefix("hevc") ? "hvc1" : "avc1", "-f", "hls",
            "-hls_time", "1", "-hls_segment_type", "fmp4", "-hls_playlist_type", "vod", "-master_pl_name", "main.m3u8",
            folder.path("list.m3u8"),
        ])
        func text(_ name: String) throws -> String { String(decoding: try folder.bytes(name), as: UTF8.self) }
        func durations(_ text: String) -> [Double] {
            text.split(separator: "\n").filter { $0.hasPrefix("#EXTINF:") }.compactMap {
                Double($0.dropFirst(8).dropLast())
            }
        }
        let (ours, theirs) = (durations(playlist.text), durations(try text("list.m3u8")))
        #expect(ours.count == theirs.count && ours.count == parts.count - 1)
        // ffmpeg counts from one keyframe's decode time to the next.
        for (our, their) in zip(ours, theirs) { #expect(abs(our - their) < 0.15) }
        let tracks = try Asset(bytes: parts[0].data + parts[1].data).loadNow(.tracks)
        let own = playlist.multivariantText(uri: "list.m3u8", tracks: tracks)
        // ffmpeg 5.1 knows the codecs of H.264 and AAC alone; that of HEVC is in the header (ISO/IEC 14496-15, annex E).
        let codecs = fixture.hasPrefix("hevc") ? "hvc1.2.4.l30" : "avc1."
        #expect(own.lowercased().contains("codecs=\"\(codecs)"), "\(own)")
        let main = try text("main.m3u8")
        if !fixture.hasPrefix("hevc"), let found = main.range(of: #"CODECS="[^"]*""#, options: .regularExpression) {
            #expect(own.lowercased().contains(main[found].lowercased()), "\(main)")
        }
        #expect(own.contains("RESOLUTION=160x90"))
    }

    @Test func soundThatOutlastsTheVideoIsCutToo() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("in.mp4")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1.2", "-f", "lavfi", "-i", "sine=duration=5",
            "-c:v", "libx264", "-g", "5", "-c:a", "aac", path,
        ])
        let received = Segments()
        let writer = try AssetWriter(segmentsOf: .mp4) { segment in received.add(segment) }
        writer.preferredOutputSegmentInterval = MediaTime(value: 1, timescale: 1)
        try Reencoder(asset: Asset(path: FilePath(path)), writer: writer, video: .copy, audio: .copy).runNow()
        let reports = received.all.compactMap(\.report)
        #expect(reports.count == 5)
        for (number, report) in reports.enumerated() {
            let audio = try #require(report.tracks.first { $0.mediaType == .audio })
            #expect(audio.earliestPresentationTime >= MediaTime(value: Int64(number), timescale: 1))
            #expect(audio.duration < MediaTime(value: 11, timescale: 10))
        }
        #expect(reports.map { $0.tracks.count } == [2, 2, 1, 1, 1])
    }

    @Test func noTrackOfASegmentDependsOnAnEmptyEdit() throws {
        // Browsers pass over them.
        for (fixture, encodes) in [("late-audio.mp4", true), ("late-audio.mp4", false), ("late-video.mp4", false)] {
            let parts = try segments(of: fixture, every: MediaTime(value: 1, timescale: 2), encodes: encodes)
            let folder = try TemporaryFolder()
            let path = try folder.write("joined.mp4", parts.flatMap(\.data))
            let asset = Asset(path: FilePath(path))
            for track in try asset.loadNow(.tracks) {
                #expect(track.segments.count == 1 && track.segments.first?.mediaStart != nil, "\(fixture)")
            }
            #expect(try Written.frameTimes(path) == Written.frameTimes(Fixtures.path(fixture)), "\(fixture)")
            let (start, heard) = try Written.sound(asset)
            let (wanted, samples) = try Written.sound(Media.asset(fixture))
            if encodes {
                // Silence comes before sound that begins late.
                #expect(start == .zero && heard.count > samples.count)
            } else {
                #expect(start == wanted && heard == samples)
            }
        }
    }

    @Test func anErrorOfTheReceiverEndsTheWriting() throws {
        let writer = try AssetWriter(segmentsOf: .mp4) { segment throws(MediaError) in
            if segment.kind == .media { throw MediaError(.inputOutput, "no route to the cache") }
        }
        writer.preferredOutputSegmentInterval = MediaTime(value: 1, timescale: 2)
        let error = #expect(throws: MediaError.self) { try copy("av.mp4", to: writer) }
        #expect(error?.message == "no route to the cache")
        #expect(errorCode { try AssetWriter(segmentsOf: .mkv) { _ in } } == .unsupported)
    }
}
