import LibAV
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import ContainerFacts

/// What codecs' headers say of streams, against what libavformat finds out by reading ahead and decoding.
@Suite struct StreamFactsTests {
    private static let fixtures = [
        "av.mp4", "h264-aac.mkv", "h264-bframes.mp4", "h264-onekey.mp4", "h264-interlaced.mp4", "hevc-10bit.mp4",
        "anamorphic.mp4", "aac-5.1.m4a", "alac.m4a", "prores.mov", "opus.webm", "flac.mkv", "vp9-alpha.webm", "gap.mkv",
        "clicks-late.mov", "timecode-25.mov", "mid-gop-edit.mp4", "chapters.mkv", "eac3.mp4", "fragmented.mp4",
        "artwork.m4a", "qc-differs.mkv", "many-tracks.mp4", "many-tracks.mkv",
    ]

    /// Those that leave something open, of which libavformat's word is asked after all.
    private static let open: Set<String> = [
        "eac3.mp4", "fragmented.mp4", "artwork.m4a", "qc-differs.mkv", "many-tracks.mkv",
    ]

    private func compare(_ path: String, isWhole: Bool, at place: SourceLocation = #_sourceLocation) throws {
        let described = try InputFile(opening: .path(FilePath(path)), describedBy: StreamFacts.read)
        let wanted = try InputFile(opening: .path(FilePath(path)))
        #expect(described.isDescribedByHeaders == isWhole, "\(path)", sourceLocation: place)
        #expect(described.streamCount == wanted.streamCount, sourceLocation: place)
        for index in 0..<wanted.streamCount {
            let (one, other) = (try #require(described.stream(index)), try #require(wanted.stream(index)))
            let name = "\(path) \(index)"
            #expect(compared(one.format) == compared(other.format), "\(name)", sourceLocation: place)
            #expect(one.codedPixelAspect == other.codedPixelAspect, "\(name)", sourceLocation: place)
            #expect(one.codecParameters == other.codecParameters, "\(name)", sourceLocation: place)
            if other.format.mediaType == .video || other.format.mediaType == .audio {
                // Of MP4 and QuickTime the tables tell it, which are read apart.
                let isLeft = one.startTime == nil && described.tellsAllTimes(ofStream: index)
                #expect(isLeft || one.startTime == other.startTime, "\(name)", sourceLocation: place)
            }
            #expect(one.nominalFrameRate == other.nominalFrameRate, "\(name)", sourceLocation: place)
            #expect(one.averageFrameRate == other.averageFrameRate, "\(name)", sourceLocation: place)
        }
        // The first packets have the same times, whatever was read before.
        for _ in 0..<20 {
            let times = try times(of: described)
            #expect(times == (try self.times(of: wanted)), "\(path)", sourceLocation: place)
            if times == nil { break }
        }
    }

    /// A format without what depends on the version of libavcodec, if it has decoded something: how many bits of sound
    /// there are a second, and the range of ProRes, which has one alone (SMPTE RDD 36).
    private func compared(_ format: FormatDescription) -> FormatDescription {
        var format = format
        format.bitRate = nil
        if format.codec == "prores" { format.video?.color.range = nil }
        return format
    }

    /// When the next packet is shown and decoded, and for how long; `nil` at the end.
    private func times(of file: InputFile) throws -> [Int64?]? {
        guard let packet = try file.readPacket() else { return nil }
        return [packet.pts, packet.dts, packet.duration]
    }

    @Test(arguments: fixtures) func headersSayWhatDecodingDoes(name: String) throws {
        try compare(try Fixtures.path(name), isWhole: !Self.open.contains(name))
    }

    @Test(arguments: [
        "h264:yuv422p10le:mp4", "h264:yuv444p:mov", "h264:yuvj420p:mov", "h264:gray:mp4", "h264rgb:gbrp:mov",
        "h265:yuv422p10le:mov", "h265:yuvj420p:mp4", "h265:gray:mp4",
    ]) func picturesAreStoredAsTheirHeadersSay(form: String) throws {
        let parts = form.split(separator: ":").map(String.init)
        let folder = try TemporaryFolder()
        let path = folder.path("pictures." + parts[2])
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=192x108:d=0.2", "-c:v", "libx" + parts[0].dropFirst(1), "-pix_fmt",
            parts[1], "-x265-params", "log-level=0", "-bf", "0", path,
        ])
        try compare(path, isWhole: true)
    }

    @Test(arguments: [
        "pcm_s24le:mov", "pcm_f32le:mkv", "pcm_alaw:mov", "pcm_u8:mov", "libvorbis:mkv", "ac3:mp4", "libopus:mp4",
    ]) func soundIsStoredAsItsHeaderSays(form: String) throws {
        let parts = form.split(separator: ":").map(String.init)
        let folder = try TemporaryFolder()
        let path = folder.path("sound." + parts[1])
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "sine=d=0.5:r=48000", "-ac", "2", "-c:a", parts[0], path,
        ])
        try compare(path, isWhole: true)
    }

    /// At 22,050 Hz a header may mean 44,100 without saying so.
    @Test func ratesThatMayBeDoubledAreNotBelieved() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("low.m4a")
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "sine=d=0.5:r=22050", "-c:a", "aac", path])
        let sound = AudioFormat(sampleRate: 22050, channelLayout: .mono)
        func facts(_ header: [UInt8]) -> StreamFacts? {
            StreamFacts.read(FormatDescription(mediaType: .audio, codec: "aac", extradata: header, audio: sound)) { [] }
        }
        // ffmpeg says that there is no band replication: 0x2B7, 5, a zero.
        #expect(facts([0x13, 0x88, 0x56, 0xE5, 0x00])?.frameSize == 1024)
        #expect(facts([0x13, 0x88]) == nil)
        try compare(path, isWhole: true)
    }

    @Test(
        arguments: [
            // 48000 Hz, two channels; 44100 Hz, one.
            ([0x11, 0x90], 48000, 2), ([0x12, 0x08], 44100, 1),
            // The same with an extension that excludes band replication, and one that has it.
            ([0x11, 0x90, 0x56, 0xE5, 0x00], 48000, 2), ([0x11, 0x90, 0x56, 0xE5, 0x80], nil, 2),
            // 22050 Hz may have it without a word; main profile; 960 samples a frame; eight channels; cut off.
            ([0x13, 0x90], nil, 2), ([0x09, 0x90], nil, 2), ([0x11, 0x94], nil, 2), ([0x11, 0xB8], nil, 2),
            ([0x11], nil, 2), ([], nil, 2),
        ] as [([UInt8], Int?, Int)])
    func headersOfAACThatLeaveNothingOpen(bytes: [UInt8], rate: Int?, channels: Int) {
        let layout: ChannelLayout = channels == 1 ? .mono : .stereo
        let sound = AudioFormat(sampleRate: rate ?? 48000, channelLayout: layout)
        let format = FormatDescription(mediaType: .audio, codec: "aac", extradata: bytes, audio: sound)
        let facts = StreamFacts.read(format) { [] }
        #expect((facts != nil) == (rate != nil))
        if let facts { #expect(facts.channelLayout == layout && facts.frameSize == 1024 && facts.profile == 1) }
    }

    /// A decoder goes by the parameter set in the sample where there is another one.
    @Test func anotherParameterSetInTheSampleIsAsked() throws {
        let file = try InputFile(opening: .path(FilePath(try Fixtures.path("h264-bframes.mp4"))))
        let format = try #require(file.stream(0)?.format)
        let length = Int(format.extradata[6]) << 8 | Int(format.extradata[7])
        let set = Array(format.extradata[8..<8 + length])
        func sample(_ unit: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(unit.count)] + unit }
        #expect(StreamFacts.read(format) { sample(set) }?.pixelFormat?.rawValue == "yuv420p")
        #expect(StreamFacts.read(format) { sample(set.dropLast()) } == nil)
        var other = format
        other.video?.encodedSize = Dimensions(width: 16, height: 16)
        #expect(StreamFacts.read(other) { [] } == nil)
        other = format
        other.extradata = Array(format.extradata.prefix(10))
        #expect(StreamFacts.read(other) { [] } == nil)
    }
}
