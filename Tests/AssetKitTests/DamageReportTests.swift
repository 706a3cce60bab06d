import AssetKit
import SystemPackage
import TestSupport
import Testing

/// Makes damaged files.
enum Damage {
    /// The fixture with every byte of its `mdat` box turned into noise, and its index untouched.
    static func noiseInMedia(_ fixture: String) throws -> [UInt8] {
        var bytes = try Fixtures.bytes(fixture)
        var place = 0
        while place + 8 <= bytes.count {
            let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            if bytes[place + 4..<place + 8].elementsEqual("mdat".utf8) {
                var state: UInt32 = 1
                for index in place + 8..<min(place + size, bytes.count) {
                    state = state &* 1_664_525 &+ 1_013_904_223
                    bytes[index] = UInt8(truncatingIfNeeded: state >> 24)
                }
            }
            guard size >= 8 else { break }
            place += size
        }
        return bytes
    }
}

@Suite struct DamageReportTests {
    private func read(_ asset: Asset, _ type: MediaType) throws -> (times: [MediaTime], damage: DamageReport) {
        let track = try Media.track(asset, type)
        let output =
            type == .video
            ? TrackOutput(track: track, videoSettings: VideoSettings())
            : TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
        let reader = try Media.start(output, of: asset)
        let times = try output.remaining().map(\.presentationTime)
        #expect(reader.status == .completed)
        return (times, reader.damage)
    }

    @Test(arguments: [MediaType.video, .audio]) func aTruncatedMovieIsUsedAsFarAsItGoes(_ type: MediaType) throws {
        let whole = try read(Media.asset("av.mp4"), type)
        let part = try read(Media.asset("truncated.mp4"), type)
        #expect(part.times.count > 5)
        #expect(part.times.count < whole.times.count)
        #expect(part.times.elementsEqual(whole.times.prefix(part.times.count)))
        #expect(whole.damage.isEmpty)
        #expect(!part.damage.isEmpty)
    }

    /// Files without an index say how long they are in their header; cut in the middle, they say what is missing.
    @Test(arguments: ["wav", "w64", "aiff", "caf", "mka"])
    func aFileThatIsShorterThanItsHeaderSaysIsTruncated(_ ending: String) throws {
        let folder = try TemporaryFolder()
        let codec = ending == "aiff" ? "pcm_s16be" : "pcm_s16le"
        let path = folder.path("whole.\(ending)")
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "sine=d=3:r=8000", "-ac", "2", "-c:a", codec, path])
        #expect(try read(Asset(path: FilePath(path)), .audio).damage.isEmpty)
        let bytes = try folder.bytes("whole.\(ending)")
        let cut = try folder.write("cut.\(ending)", bytes.prefix(bytes.count / 8 * 4))
        #expect(try read(Asset(path: FilePath(cut)), .audio).damage.isTruncated)
    }

    /// RFC 3533: the last page of a stream says that it is the last, also where another stream follows.
    @Test(arguments: ["opus.opus", "vorbis.ogg"])
    func anOggFileWithoutItsLastPageIsTruncated(_ fixture: String) throws {
        let folder = try TemporaryFolder()
        let whole = try Fixtures.bytes(fixture)
        let lastPage = try #require(
            whole.indices.dropLast(4).last { whole[$0..<$0 + 4].elementsEqual("OggS".utf8) })
        let half = whole.prefix(whole.count / 2)
        let cases: [(bytes: [UInt8], isTruncated: Bool)] = [
            (Array(half), true), (Array(whole.prefix(lastPage)), true), (Array(whole.prefix(lastPage + 9)), true),
            (whole.dropLast(), true), (whole + half, true),
            (whole, false), (whole + whole, false), (whole + Array("TAG of another program".utf8), false),
        ]
        for (number, (bytes, isTruncated)) in cases.enumerated() {
            let path = try folder.write("\(number).ogg", bytes)
            #expect(try read(Asset(path: FilePath(path)), .audio).damage.isTruncated == isTruncated, "\(number)")
        }
    }

    /// ffmpeg says "corrupt decoded frame" once.
    @Test func soundThatTheDecoderPatchedUpIsDamage() throws {
        let folder = try TemporaryFolder()
        let bytes = try Fixtures.bytes("ac3-5.1.ac3")
        let path = try folder.write("half.ac3", bytes.prefix(bytes.count / 2 + 13))
        #expect(try read(Asset(path: FilePath(path)), .audio).damage.packetCount == 1)
        #expect(try read(Media.asset("ac3-5.1.ac3"), .audio).damage.isEmpty)
    }

    @Test(arguments: ["damaged.mp4", "damaged.ts"], [MediaType.video, .audio])
    func whatDecodesIsDelivered(_ fixture: String, _ type: MediaType) throws {
        let whole = try read(Media.asset(fixture == "damaged.ts" ? "mpegts-10s.ts" : "av.mp4"), type)
        let part = try read(Media.asset(fixture), type)
        #expect(part.times.count > whole.times.count / 2)
        #expect(zip(part.times, part.times.dropFirst()).allSatisfy { $0 < $1 })
        // 2000 to 3000 bytes without content are several packets; the last picture is long after them.
        #expect(try #require(part.times.last) == #require(whole.times.last))
    }

    @Test(arguments: [("truncated.mp4", true), ("av.mp4", false)])
    func anImageAfterTheBreakReportsIt(_ fixture: String, _ isTruncated: Bool) throws {
        let generator = ImageGenerator(asset: try Media.asset(fixture))
        generator.configuration.requestedTimeToleranceBefore = .zero
        generator.configuration.requestedTimeToleranceAfter = .zero
        do throws(MediaError) {
            _ = try generator.generateNow(at: MediaTime(value: 29, timescale: 10))
            #expect(!isTruncated)
        } catch {
            #expect(isTruncated && error.code == .damaged)
        }
        #expect(generator.damage.isTruncated == isTruncated)
    }

    @Test func damagedPacketsAreCounted() throws {
        let damage = try read(Media.asset("damaged.mp4"), .audio).damage
        #expect(damage.packetCount > 0)
        let index = try Media.track(Media.asset("damaged.mp4"), .audio).index
        #expect(damage.places.allSatisfy { $0.trackIndex == index && $0.timeRange.duration > .zero })
        // Every packet of AAC has 1024 samples; those one behind the other are one place.
        let packet = MediaTime(value: 1024, timescale: 48000)
        let lost = damage.places.reduce(MediaTime.zero) { $0 + $1.timeRange.duration }
        #expect(lost == packet * damage.packetCount, "\(damage)")
        #expect(zip(damage.places, damage.places.dropFirst()).allSatisfy { $0.timeRange.end < $1.timeRange.start })
    }

    /// In decoding order a picture comes after those that are shown around it.
    @Test func placesAreJoinedInAnyOrder() {
        func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
            MediaTimeRange(
                start: MediaTime(value: start, timescale: 1000), end: MediaTime(value: end, timescale: 1000))
        }
        var damage = DamageReport()
        for (start, end) in [(0, 40), (120, 160), (80, 120), (400, 440), (41, 80)] {
            damage.add(track: 0, at: range(Int64(start), Int64(end)))
        }
        damage.add(track: 1, at: range(160, 200))
        damage.add(track: 1, at: nil)
        #expect(damage.packetCount == 7)
        #expect(damage.places.map(\.timeRange) == [range(0, 160), range(160, 200), range(400, 440)])
        #expect(damage.places.map(\.trackIndex) == [0, 1, 0])
        for number in 0..<300 { damage.add(track: 2, at: range(Int64(10000 * number), Int64(10000 * number + 10))) }
        #expect(damage.places.count == DamageReport.placeLimit)
    }

    /// ffmpeg says of the pictures once "corrupt input packet in stream 0" and once "corrupt decoded frame in stream 0".
    @Test(arguments: [1, 2]) func whatIsMarkedOrPatchedUpIsCountedOnce(_ threads: Int) throws {
        func damage(_ fixture: String, _ type: MediaType, _ settings: TrackOutput.Settings) throws -> DamageReport {
            let asset = try Media.asset(fixture)
            let track = try Media.track(asset, type)
            let output: TrackOutput
            switch settings {
            case .stored: output = TrackOutput(track: track)
            case .audio(let settings): output = TrackOutput(track: track, audioSettings: settings)
            case .video(let settings): output = TrackOutput(track: track, videoSettings: settings)
            }
            let reader = try AssetReader(asset: asset)
            reader.threadsPerOutput = threads
            try reader.add(output)
            try reader.startReading()
            _ = try output.remaining()
            return reader.damage
        }
        let pictures = try damage("damaged.ts", .video, .video(VideoSettings()))
        #expect(threads > 1 ? pictures.packetCount > 0 : pictures.packetCount == 2, "\(pictures)")
        #expect(!pictures.places.isEmpty && pictures.places.count <= pictures.packetCount)
        // ffprobe -show_packets: one packet has the flag C.
        #expect(try damage("damaged.ts", .video, .stored).packetCount == 1)
        for settings in [TrackOutput.Settings.stored, .video(VideoSettings())] {
            #expect(try damage("mpegts-10s.ts", .video, settings).isEmpty)
            #expect(try damage("h264-opengop.ts", .video, settings).isEmpty)
        }
        #expect(try damage("mpegts-10s.ts", .audio, .audio(AudioSettings())).isEmpty)
    }

    /// Behind a page whose checksum is wrong the time stamps go on where they should.
    @Test func soundThatOggLostIsDamage() throws {
        let folder = try TemporaryFolder()
        var bytes = try Fixtures.bytes("opus.opus")
        let middle = bytes.count / 2
        bytes.replaceSubrange(middle..<middle + 3000, with: repeatElement(0, count: 3000))
        let path = try folder.write("damaged.ogg", bytes)
        let damage = try read(Asset(path: FilePath(path)), .audio).damage
        #expect(damage.packetCount > 0 && damage.places.count == damage.packetCount)
        #expect(damage.places.allSatisfy { $0.timeRange.duration >= MediaTime(value: 1, timescale: 50) })
        for fixture in ["opus.opus", "vorbis.ogg"] {
            #expect(try read(Media.asset(fixture), .audio).damage.isEmpty)
        }
    }

    /// The last block of a file whose header leaves its length open is shorter than others, and whole.
    @Test(arguments: ["wav", "caf"]) func anOpenLengthIsNoDamage(_ format: String) throws {
        let folder = try TemporaryFolder()
        let bytes = try FFmpeg.run(
            ["-f", "lavfi", "-i", "sine=d=1:r=44100", "-c:a", "pcm_s16le", "-f", format, "-"])
        let path = try folder.write("open.\(format)", bytes)
        #expect(try read(Asset(path: FilePath(path)), .audio).damage.isEmpty)
    }

    @Test func nothingButNoiseFails() throws {
        let folder = try TemporaryFolder()
        let asset = Asset(path: FilePath(try folder.write("noise.mp4", Damage.noiseInMedia("av.mp4"))))
        #expect(errorCode { try read(asset, .video) } == .damaged)
    }

    @Test func aTruncatedSoundFileHasWhatIsThere() throws {
        let asset = try Media.asset("truncated.wav")
        let output = TrackOutput(
            track: try Media.track(asset, .audio), audioSettings: AudioSettings(sampleFormat: .int16))
        let count = try Media.all(output, of: asset).reduce(0) { $0 + ($1.audioBuffer?.sampleCount ?? 0) }
        #expect(try count == GoldenTable.pcm("truncated.wav").number("frames"))
    }
}
