import LibAV
import MediaBase
import Testing

/// Tests how many threads and decoders the memory suffices for.
@Suite struct DecodingMemoryTests {
    /// Half of the memory, divided by the bytes of a picture, less the four that a decoder keeps.
    @Test(arguments: [
        // 1 GiB a picture.
        (16384, 8192, "rgba64le", 6 << 30, 8, 1, 1), (16384, 8192, "rgba64le", 64 << 30, 8, 8, 6),
        (16384, 8192, "rgba64le", 20 << 30, 8, 6, 2),
        // 3840 · 2160 · 3 = 24,883,200 bytes: 10 pictures in 256 MiB.
        (3840, 2160, "yuv420p10le", 512 << 20, 8, 6, 2),
        // 12 pictures of 3 MB are no matter, whatever the limit.
        (1920, 1080, "yuv420p", 1 << 20, 8, 8, 8),
        // An unknown format counts as four bytes for each pixel.
        (16384, 8192, "", 8 << 30, 8, 4, 1),
        (0, 0, "yuv420p", 1, 4, 4, 4), (1 << 31, 1 << 31, "", 1 << 30, 4, 1, 1),
    ])
    func largePicturesGetFewerThreads(
        _ width: Int, _ height: Int, _ format: String, _ memory: Int, _ wanted: Int, _ threads: Int, _ decoders: Int
    ) {
        var limits = MediaLimits()
        limits.memory = memory
        let found = DecodingMemory(
            Dimensions(width: width, height: height), format.isEmpty ? nil : PixelFormat(rawValue: format),
            limits: limits)
        #expect(found.threads(atMost: wanted) == threads)
        #expect(found.decoders(atMost: wanted) == decoders)
    }
}
