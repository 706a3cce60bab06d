import LibAV
import MediaBase
import SystemPackage
import TestSupport
import Testing

@Suite struct EncoderTests {
    private func sound(_ name: String, options: [(key: String, value: String)] = []) -> Encoder.Configuration {
        var configuration = Encoder.Configuration(name: name, timeBase: Rational(1, 48000))
        configuration.audio = AudioFormat(
            sampleRate: 48000, channelLayout: .mono, sampleFormat: .float32, isPlanar: true)
        configuration.options = options
        return configuration
    }

    @Test func packetsOfSoundBeginBeforeTheirTimeByThePriming() throws {
        var encoder = try Encoder.open(sound("aac"))
        #expect(encoder.frameSize == 1024)
        #expect(encoder.parameters.codec == "aac")
        #expect(encoder.parameters.initialPadding == 1024)
        var times: [Int64?] = []
        func drain() throws {
            while case .packet(let packet) = try encoder.receive() { times.append(packet.pts) }
        }
        for index in 0..<3 {
            let frame = try Frame.sound(
                1024, format: .float32, isPlanar: true, sampleRate: 48000, channelLayout: .mono
            ) { _, _ in }
            try encoder.send(frame, at: Int64(index * 1024))
            try drain()
        }
        try encoder.finish()
        try drain()
        #expect(times == [-1024, 0, 1024, 2048])
    }

    @Test func whatDoesNotExistIsRefused() {
        #expect(mediaError { _ = try Encoder.open(sound("no_such_encoder")) }?.code == .unsupported)
        let unknown = mediaError { _ = try Encoder.open(sound("aac", options: [("no_such_option", "1")])) }
        #expect(unknown?.code == .invalidArgument)
        #expect(unknown?.message.contains("no_such_option") == true)
        var impossible = sound("aac")
        impossible.audio?.sampleRate = 12345
        #expect(mediaError { _ = try Encoder.open(impossible) }?.code == .invalidArgument)
    }

    @Test func encodersSayWhatTheyTake() {
        #expect(Encoder.sampleRates(of: "libopus").contains(48000))
        #expect(Encoder.sampleFormats(of: "flac").map(\.format) == [.int16, .int32])
        #expect(Encoder.exists("aac") && !Encoder.exists("no_such_encoder"))
    }

    @Test func aPoolUsesItsMemoryAgain() throws {
        let pool = try FramePool(dimensions: Dimensions(width: 33, height: 17), pixelFormat: .yuv420p)
        for value in [7, 9] as [UInt8] {
            let picture = try pool.picture(sampleAspectRatio: Rational(4, 3)) { _, bytes, _ in
                for place in 0..<bytes.byteCount { bytes.storeBytes(of: value, toByteOffset: place, as: UInt8.self) }
            }
            #expect(picture.packedPlane(0) == [UInt8](repeating: value, count: 33 * 17))
            #expect(picture.packedPlane(2) == [UInt8](repeating: value, count: 17 * 9))
            #expect(picture.sampleAspectRatio == Rational(4, 3))
        }
        let huge = Dimensions(width: 1 << 20, height: 1 << 20)
        #expect(mediaError { try FramePool(dimensions: huge, pixelFormat: .rgba) }?.code == .limitExceeded)
        let unknown = PixelFormat(rawValue: "none")
        #expect(mediaError { try FramePool(dimensions: huge, pixelFormat: unknown) }?.code == .invalidArgument)
    }

    @Test func aQueueGivesFramesOfOneLength() throws {
        var queue = try SampleQueue(format: .int16, isPlanar: false, sampleRate: 8000, channelLayout: .stereo)
        var next: Int16 = 0
        for count in [3, 5, 1] {
            let frame = try Frame.sound(
                count, format: .int16, isPlanar: false, sampleRate: 8000, channelLayout: .stereo
            ) { _, bytes in
                for place in 0..<2 * count {
                    bytes.storeBytes(of: next, toByteOffset: 2 * place, as: Int16.self)
                    next += 1
                }
            }
            try queue.append(frame, (count == 5 ? 1 : 0)..<count)
        }
        try queue.appendSilence(2)
        #expect(queue.count == 10)
        var taken: [[Int16]] = []
        while let frame = try queue.take(4) {
            taken.append(
                frame.withSamples(of: Int16.self, plane: 0, in: 0..<frame.sampleCount) { span in
                    span.indices.map { span[$0] }
                })
        }
        #expect(taken == [[0, 1, 2, 3, 4, 5, 8, 9], [10, 11, 12, 13, 14, 15, 16, 17], [0, 0, 0, 0]])
    }
}
