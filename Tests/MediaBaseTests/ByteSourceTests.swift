import MediaBase
import Testing

struct ByteSourceTests {
    @Test(
        arguments: [
            (0, 3, [1, 2, 3]), (3, 5, [4, 5]), (5, 1, []), (4, 0, []), (4, -1, []), (UInt64.max, 4, []),
        ] as [(UInt64, Int, [UInt8])])
    func arrayReadsUpToItsEnd(offset: UInt64, count: Int, expected: [UInt8]) throws {
        let source = ArrayByteSource([1, 2, 3, 4, 5])
        #expect(source.size == 5)
        #expect(try source.read(at: offset, count: count) == expected)
    }
}
