import LibAV
import MediaBase
import TestSupport
import Testing

@Suite struct FrameTests {
    @Test func planesThatDoNotExistAreEmpty() throws {
        var isFirst = true
        try Media.frames(Media.file("h264-bframes.mp4")) { frame in
            guard isFirst else { return }
            isFirst = false
            #expect(frame.planeCount == 3)
            for plane in [-1, 3, 8, Int.max, Int.min] {
                #expect(frame.planeShape(plane) == (0, 0))
                #expect(frame.packedPlane(plane).isEmpty)
                #expect(frame.withPlane(plane) { span, _ in span.byteCount } == 0)
                #expect(frame.withSamples(plane: plane, in: 0..<1) { $0.byteCount } == 0)
            }
        }
    }

    @Test func soundIsCutToTheSample() throws {
        try Media.frames(Media.file("pcm-s16-stereo.wav")) { frame in
            let count = frame.sampleCount
            func bytes(_ frame: borrowing Frame, _ range: Range<Int>) -> [UInt8] {
                frame.withSamples(plane: 0, in: range) { span in span.withUnsafeBytes { Array($0) } }
            }
            let whole = bytes(frame, 0..<count)
            #expect(whole.count == count * 4)
            let cut = try frame.cropped(to: 1..<count - 1)
            #expect(bytes(cut, 0..<cut.sampleCount) == Array(whole[4..<whole.count - 4]))
            #expect(bytes(frame, 0..<count + 1).isEmpty)
            #expect(bytes(frame, -1..<1).isEmpty)
            for range in [-1..<1, 0..<count + 1, 1..<1] {
                #expect(mediaError { _ = try frame.cropped(to: range) }?.code == .invalidArgument)
            }
        }
    }

    @Test func aSharedFrameOutlivesTheFirst() throws {
        var shared: [UInt8] = []
        var original: [UInt8] = []
        func second(_ frame: borrowing Frame) throws -> Frame { try frame.shared() }
        try Media.frames(Media.file("picture.png")) { frame in
            let copy = try second(frame)
            original = frame.packedPlane(0)
            shared = copy.packedPlane(0)
        }
        #expect(original == shared)
        #expect(original.count == 64 * 48 * 4)
    }
}
