import LibAV
import MediaBase
import TestSupport
import Testing

@Suite struct DecoderTests {
    @Test(arguments: [1, 2, 0]) func threadsDoNotChangeWhatComesOut(_ threads: Int) throws {
        // 75 pictures, by golden/frames/h264-bframes.mp4.v0.tsv.
        func decoded(_ threads: Int) throws -> (times: [Int64?], bytes: [[UInt8]]) {
            var result: (times: [Int64?], bytes: [[UInt8]]) = ([], [])
            try Media.frames(Media.file("h264-bframes.mp4"), threads: threads) { frame in
                result.times.append(frame.pts)
                result.bytes.append((0..<frame.planeCount).flatMap { frame.packedPlane($0) })
            }
            return result
        }
        let (got, wanted) = (try decoded(threads), try decoded(1))
        #expect(got.times.count == 75)
        #expect(got.times == wanted.times)
        #expect(got.bytes == wanted.bytes)
    }

    @Test func tracksThatCannotBeDecodedAreRefused() throws {
        let file = try Media.file("timecode-df.mov")
        #expect(mediaError { _ = try Decoder.open(file, stream: 1, threads: 1) }?.code == .unsupported)
        for index in [-1, 2, Int.max] {
            #expect(mediaError { _ = try Decoder.open(file, stream: index, threads: 1) }?.code == .noSuchTrack)
        }
    }

    @Test func whatIsLeftComesOutAtTheEnd() throws {
        let file = try Media.file("h264-bframes.mp4")
        var decoder = try Decoder.open(file, stream: 0, threads: 1)
        var count = 0
        while let packet = try file.readPacket() {
            try decoder.send(packet)
            while case .frame = try decoder.receive() { count += 1 }
        }
        #expect(count < 75)
        try decoder.finish()
        try decoder.finish()
        while case .frame = try decoder.receive() { count += 1 }
        #expect(count == 75)
        guard case .ended = try decoder.receive() else { throw TestSupportError("not ended") }
        // After a flush it begins anew.
        decoder.flush()
        #expect(file.seek(stream: 0, to: 0))
        while let packet = try file.readPacket() {
            try decoder.send(packet)
            while case .frame = try decoder.receive() { count += 1 }
        }
        #expect(count > 75)
    }

    /// What the decoders of the two codecs remember of other packets must not show; with libavcodec 60 and later they are not
    /// restarted.
    @Test(arguments: ["vorbis.ogg", "opus.opus"]) func aRestartedDecoderIsAsANewOne(_ fixture: String) throws {
        func decode(_ decoder: inout Decoder, from first: Int, to last: Int) throws -> [[UInt8]] {
            let file = try Media.file(fixture)
            var frames: [[UInt8]] = []
            for place in 0..<last {
                let packet = try file.nextPacket()
                guard place >= first else { continue }
                try decoder.send(packet)
                while case .frame(let frame) = try decoder.receive() {
                    frames.append(
                        (0..<frame.channelLayout.channels).flatMap { plane in
                            frame.withSamples(plane: plane, in: 0..<frame.sampleCount) { span in
                                span.withUnsafeBytes { Array($0) }
                            }
                        })
                }
            }
            return frames
        }
        var fresh = try Decoder.open(Media.file(fixture), stream: 0, threads: 1)
        let wanted = try decode(&fresh, from: 30, to: 60)
        var used = try Decoder.open(Media.file(fixture), stream: 0, threads: 1)
        _ = try decode(&used, from: 0, to: 75)
        guard used.restart() else { return }
        // A Vorbis decoder that was never used gives nothing for its first packet.
        #expect(try decode(&used, from: 30, to: 60).suffix(25) == wanted.suffix(25))
        #expect(wanted.count >= 29)
    }

    @Test func aFileNeedNotOutliveItsDecoder() throws {
        var file: InputFile? = try Media.file("pcm-s16-silent.wav")
        var decoder = try Decoder.open(try #require(file), stream: 0, threads: 1)
        guard let packet = try file?.nextPacket() else { return }
        file = nil
        try decoder.send(packet)
        guard case .frame(let frame) = try decoder.receive() else { throw TestSupportError("no frame") }
        #expect(frame.sampleCount * 2 == packet.size)
    }
}
