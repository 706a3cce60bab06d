import Bitstreams
import Testing

@Suite struct NALUnitsTests {
    @Test func startCodesPartUnits() {
        let stream: [UInt8] = [9, 0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 3, 1]
        // The zero before a start code of four bytes belongs to no unit, but does no harm at the end of one.
        #expect(NALUnits.inByteStream(stream).map(Array.init) == [[0x67, 1], [0x68, 2, 0, 0, 3, 1]])
        #expect(NALUnits.payload([0x68, 2, 0, 0, 3, 1]) == [0x68, 2, 0, 0, 1])
        #expect(NALUnits.inByteStream([]).isEmpty && NALUnits.inByteStream([0, 0, 1]).isEmpty)
    }

    @Test func lengthsPartUnits() {
        #expect(NALUnits.inSample([0, 1, 7, 0, 2, 8, 9], lengthSize: 2).map(Array.init) == [[7], [8, 9]])
        // A length beyond the end, and lengths that do not exist.
        #expect(NALUnits.inSample([0, 9, 7], lengthSize: 2).isEmpty)
        #expect(NALUnits.inSample([1, 2, 3], lengthSize: 0).isEmpty)
        #expect(NALUnits.inSample([UInt8](repeating: 0xFF, count: 64), lengthSize: 4).isEmpty)
    }

    @Test func configurationRecordsHoldParameterSets() {
        let avc = ParameterSets([1, 100, 0, 31, 0xFF, 0xE1, 0, 2, 0x67, 1, 1, 0, 1, 0x68], isHEVC: false)
        #expect(avc.units.map(Array.init) == [[0x67, 1], [0x68]] && avc.lengthSize == 4)
        let head: [UInt8] = [1] + [UInt8](repeating: 0, count: 20)
        let hevc = ParameterSets(head + [3, 1, 0xA1, 0, 1, 0, 2, 66, 1], isHEVC: true)
        #expect(hevc.units.map(Array.init) == [[66, 1]] && hevc.lengthSize == 4)
        #expect(ParameterSets([1, 100, 0, 31, 0xFF, 0xFF, 0xFF], isHEVC: false).units.isEmpty)
    }
}
