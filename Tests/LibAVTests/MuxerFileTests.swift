import LibAV
import MediaBase
import SystemPackage
import TestSupport
import Testing

@Suite struct MuxerFileTests {
    private func open(_ path: String) throws -> FileDescriptor {
        try FileDescriptor.open(
            FilePath(path), .readWrite, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
    }

    private let pcm = FormatDescription(
        mediaType: .audio, codec: "pcm_s16le",
        audio: AudioFormat(sampleRate: 48000, channelLayout: .mono, sampleFormat: .int16, bitsPerSample: 16))

    @Test func packetsBecomeAFile() throws {
        let folder = try TemporaryFolder()
        let descriptor = try open(folder.path("a.wav"))
        defer { try? descriptor.close() }
        let muxer = try MuxerFile(writingTo: descriptor, isSeekable: true, format: "wav")
        let stream = MuxerFile.Stream(parameters: try CodecParameters(pcm), timeBase: Rational(1, 48000))
        #expect(try muxer.add(stream) == 0)
        try muxer.writeHeader()
        let packet = try Packet.copying([1, 2, 3, 4]).retimed(pts: 0, dts: 0, duration: 2)
        try muxer.write(packet, stream: 0, timeBase: Rational(1, 48000))
        try muxer.writeTrailer()
        #expect(muxer.firstDecodeTime(ofStream: 0) == .zero)
        // RIFF WAVE of the least size: a head of 44 bytes and the samples.
        let bytes = try folder.bytes("a.wav")
        #expect(bytes.count == 48)
        #expect(Array(bytes.suffix(4)) == [1, 2, 3, 4])
    }

    @Test func aFullDiskIsTold() throws {
        let descriptor = try FileDescriptor.open("/dev/full", .readWrite)
        defer { try? descriptor.close() }
        let muxer = try MuxerFile(writingTo: descriptor, isSeekable: false, format: "matroska")
        let stream = MuxerFile.Stream(parameters: try CodecParameters(pcm), timeBase: Rational(1, 48000))
        _ = try muxer.add(stream)
        let error = mediaError {
            try muxer.writeHeader()
            for index in 0..<200 {
                let packet = try Packet.copying([UInt8](repeating: 1, count: 9600))
                let time = Int64(index * 4800)
                try muxer.write(
                    packet.retimed(pts: time, dts: time, duration: 4800), stream: 0, timeBase: Rational(1, 48000))
            }
            try muxer.writeTrailer()
        }
        #expect(error != nil)
        #expect(muxer.writeFailure == .noSpace)
    }

    @Test func cancellingEndsWriting() throws {
        let folder = try TemporaryFolder()
        let descriptor = try open(folder.path("a.mkv"))
        defer { try? descriptor.close() }
        let muxer = try MuxerFile(writingTo: descriptor, isSeekable: true, format: "matroska")
        _ = try muxer.add(
            MuxerFile.Stream(parameters: try CodecParameters(pcm), timeBase: Rational(1, 48000)))
        muxer.cancel()
        #expect(
            mediaError {
                try muxer.writeHeader()
                try muxer.writeTrailer()
            }?.code == .cancelled)
    }

    @Test func whatCannotBeWrittenIsRefused() throws {
        let folder = try TemporaryFolder()
        let descriptor = try open(folder.path("a"))
        defer { try? descriptor.close() }
        #expect(
            mediaError { try MuxerFile(writingTo: descriptor, isSeekable: true, format: "no_such") }?.code
                == .unsupported)
        #expect(MuxerFile.format("mov", canHold: "prores") && !MuxerFile.format("webm", canHold: "prores"))
        #expect(!MuxerFile.format("mov", canHold: "no_such_codec"))
        for codec in ["opus", "vorbis", "flac", "speex"] { #expect(MuxerFile.format("ogg", canHold: codec)) }
        for codec in ["aac", "mp3", "pcm_s16le"] { #expect(!MuxerFile.format("ogg", canHold: codec)) }
        let muxer = try MuxerFile(writingTo: descriptor, isSeekable: true, format: "wav")
        let stream = MuxerFile.Stream(parameters: try CodecParameters(pcm), timeBase: Rational(1, 48000))
        _ = try muxer.add(stream)
        #expect(mediaError { try muxer.writeHeader(options: [("no_such_option", "1")]) }?.code == .invalidArgument)
    }

    @Test func packetsWaitInAFile() throws {
        let spill = PacketSwapFile()
        for _ in 0..<2 {
            var entries: [PacketSwapFile.Entry] = []
            for index in 0..<10 {
                let packet = try Packet.copying([UInt8](repeating: UInt8(index), count: 1000 + index))
                entries.append(
                    try spill.store(packet.retimed(pts: Int64(index), dts: nil, duration: 5, isKey: index == 3)))
            }
            for (index, entry) in entries.enumerated() {
                let packet = try spill.load(entry)
                #expect(packet.size == 1000 + index && packet.pts == Int64(index) && packet.dts == nil)
                #expect(packet.duration == 5 && packet.isKey == (index == 3))
                #expect(packet.withBytes { $0.withUnsafeBytes { $0.allSatisfy { $0 == UInt8(index) } } })
            }
        }
    }
}
