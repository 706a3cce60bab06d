import ISOMedia
import MediaBase
import Testing

struct BoxReaderTests {
    private func boxes(_ bytes: Bytes, limits: BoxLimits = BoxLimits()) throws -> (boxes: [Box], reader: BoxReader) {
        var reader = BoxReader(ArrayByteSource(bytes), limits: limits)
        let boxes = try reader.boxes(in: reader.wholeSource)
        return (boxes, reader)
    }

    @Test func plainLargeAndUserBoxes() throws {
        let uuid = Bytes(0..<16)
        let large = u32(1) + code("mdat") + u64(20) + zeros(4)
        let (boxes, reader) = try boxes(box("free", zeros(3)) + large + box("uuid", uuid, zeros(2)))
        #expect(boxes.map(\.type) == ["free", "mdat", "uuid"])
        #expect(boxes.map(\.offset) == [0, 11, 31])
        #expect(boxes.map(\.headerSize) == [8, 16, 24])
        #expect(boxes.map(\.payload) == [8..<11, 27..<31, 55..<57])
        #expect(boxes[2].userType == uuid)
        #expect(boxes[2].range == 31..<57)
        #expect(reader.warnings.isEmpty)
    }

    @Test func sizeZeroReachesToTheEnd() throws {
        let (boxes, reader) = try boxes(box("free") + u32(0) + code("mdat") + zeros(10))
        #expect(boxes.map(\.payload) == [8..<8, 16..<26])
        #expect(reader.warnings.isEmpty)
    }

    @Test func zerosEndAList() throws {
        let (short, quiet) = try boxes(box("free") + u32(0))
        #expect(short.count == 1)
        #expect(quiet.warnings.isEmpty)
        let (long, loud) = try boxes(box("free") + zeros(100))
        #expect(long.count == 1)
        #expect(loud.warnings == ["zeros instead of a box at offset 8"])
    }

    @Test(arguments: [2, 7] as [UInt32])
    func sizeBelowTheHeaderEndsTheList(size: UInt32) throws {
        let (boxes, reader) = try boxes(box("free") + u32(size) + code("moov") + box("free"))
        #expect(boxes.map(\.type) == ["free"])
        #expect(reader.warnings == ["box moov at offset 8 has the impossible size \(size)"])
    }

    @Test(arguments: [0, 15] as [UInt64])
    func largeSizeBelowTheHeaderEndsTheList(size: UInt64) throws {
        let (boxes, reader) = try boxes(u32(1) + code("mdat") + u64(size) + zeros(20))
        #expect(boxes.isEmpty)
        #expect(reader.warnings == ["box mdat at offset 0 has the impossible size \(size)"])
    }

    @Test(arguments: [1 << 63, .max, 30] as [UInt64])
    func sizeBeyondTheParentIsClipped(size: UInt64) throws {
        let (boxes, reader) = try boxes(u32(1) + code("mdat") + u64(size) + zeros(4))
        #expect(boxes.map(\.payload) == [16..<20])
        #expect(reader.warnings == ["box mdat at offset 0 is \(size - 20) bytes longer than what holds it"])
    }

    @Test func shortHeadersEndTheList() throws {
        #expect(try boxes([1, 2, 3]).reader.warnings == ["3 stray bytes at offset 0"])
        let large = try boxes(u32(1) + code("mdat") + zeros(7))
        #expect(large.boxes.isEmpty)
        #expect(large.reader.warnings == ["the header of box mdat at offset 0 ends too early"])
        let uuid = try boxes(u32(20) + code("uuid") + zeros(12))
        #expect(uuid.boxes.map(\.userType) == [nil])
    }

    @Test func numberOfBoxesIsLimited() throws {
        var limits = BoxLimits()
        limits.boxes = 3
        let (boxes, reader) = try boxes((0..<5).flatMap { _ in box("free") }, limits: limits)
        #expect(boxes.count == 3)
        #expect(reader.reachedLimit)
        #expect(reader.warnings == ["more boxes than the limit boxes=3: the rest was not read"])
    }

    @Test func payloadsAreLimitedOneByOneAndInAll() throws {
        var limits = BoxLimits()
        limits.payload = 10
        limits.payloads = 15
        var reader = BoxReader(ArrayByteSource(box("aaaa", zeros(11)) + box("bbbb", zeros(10))), limits: limits)
        let boxes = try reader.boxes(in: reader.wholeSource)
        let sizes = try boxes.map { box in try reader.parse(box) { $0.remaining } }
        #expect(sizes == [nil, 10])
        #expect(try reader.parse(boxes[1]) { $0.remaining } == nil)
        #expect(try reader.parse(boxes[1], prefix: 5) { $0.remaining } == 5)
        #expect(reader.warnings.count == 2)
        #expect(reader.reachedLimit)
    }

    @Test func damageBecomesAWarningAndANoteToo() throws {
        var reader = BoxReader(ArrayByteSource(box("aaaa", u16(1))))
        let first = try #require(try reader.box(at: 0, end: 10))
        let value = try reader.parse(first) { reader throws(MediaError) in try reader.uint32() }
        #expect(value == nil)
        _ = try reader.parse(first) { $0.note("is odd") }
        #expect(
            reader.warnings == ["box aaaa at offset 0 ends too early and was skipped", "box aaaa at offset 0 is odd"])
    }

    @Test func tablesAreFollowedAsFarAsTheyReach() throws {
        let table = fullBox("stts", u32(.max), u32(1, 2, 3, 4, 5))
        var reader = BoxReader(ArrayByteSource(table))
        let box = try #require(try reader.box(at: 0, end: UInt64(table.count)))
        var numbers: [UInt32] = []
        try reader.forEachEntry(of: box, from: 8, entrySize: 8, count: .max) { entry throws(MediaError) in
            numbers.append(try entry.uint32())
            try entry.skip(4)
        }
        #expect(numbers == [1, 3])
        #expect(reader.warnings == ["box stts at offset 0 claims 4294967295 entries and holds 2"])
    }

    @Test func tablesLongerThanABatchAreReadWhole() throws {
        let count = 20_000
        let table = box("stts", (0..<UInt32(count)).flatMap { u32($0) })
        var limits = BoxLimits()
        limits.tables = 4 * count + 8
        var reader = BoxReader(ArrayByteSource(table), limits: limits)
        let box = try #require(try reader.box(at: 0, end: UInt64(table.count)))
        var next: UInt32 = 0
        var isInOrder = true
        for _ in 0..<2 {
            try reader.forEachEntry(of: box, from: 0, entrySize: 4, count: UInt32(count)) { entry throws(MediaError) in
                let number = try entry.uint32()
                isInOrder = isInOrder && number == next % 20_000
                next += 1
            }
        }
        #expect(isInOrder)
        #expect(next == 20_002)
        #expect(reader.reachedLimit)
    }

    @Test func warningsAreLimitedAndNotRepeated() {
        var limits = BoxLimits()
        limits.warnings = 2
        var reader = BoxReader(ArrayByteSource([]), limits: limits)
        for text in ["a", "a", "b", "c", "d"] { reader.warn(text) }
        #expect(reader.warnings == ["a", "b", "further warnings are left out"])
    }

    /// A source that does not know its size, as a pipe.
    private struct EndlessSource: ByteSource {
        let inner: ArrayByteSource
        var size: UInt64? { nil }
        func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
            try inner.read(at: offset, count: count)
        }
    }

    @Test func unknownSizeEndsWhereReadingEnds() throws {
        let bytes = box("free", zeros(2)) + u32(1) + code("mdat") + u64(1 << 63) + zeros(3)
        var reader = BoxReader(EndlessSource(inner: ArrayByteSource(bytes)))
        let boxes = try reader.boxes(in: reader.wholeSource)
        #expect(boxes.map(\.type) == ["free", "mdat"])
        #expect(boxes.last?.payload.upperBound == UInt64(Int64.max))
    }

    /// A source that fails, as a bad disk.
    private struct FailingSource: ByteSource {
        var size: UInt64? { 1000 }
        func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
            throw MediaError(.inputOutput, "reading failed")
        }
    }

    @Test func failuresOfTheSourceAreThrown() {
        let error = #expect(throws: MediaError.self) { try MovieHeader(reading: FailingSource()) }
        #expect(error?.code == .inputOutput)
    }
}
