import Bitstreams
import MediaBase
import Testing

/// Headers written by the syntax tables of ITU-T H.264: 7.3.2.1.1, E.1.1, E.1.2, D.1.3 and 7.3.3.
@Suite struct H264PictureStructureTests {
    private static let startCode: [UInt8] = [0, 0, 1]

    /// 720 by 576 in fields, frame numbers of five bits, picture timing with delays of 10 and 8 bits.
    private func parameterSet(framesOnly: Bool = false, hasTiming: Bool = true) -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, 0x67)
        writer.u(8, 77)
        writer.u(8, 0)
        writer.u(8, 30)
        writer.ue(0, 1, 2, 1)
        writer.u(1, 0)
        writer.ue(44, framesOnly ? 35 : 17)
        writer.u(1, framesOnly ? 1 : 0)
        if !framesOnly { writer.u(1, 0) }
        writer.u(2, 0b10)
        writer.u(1, hasTiming ? 1 : 0)
        if hasTiming {
            writer.u(4, 0)
            writer.u(1, 1)
            writer.u(32, 0x0101_0101)
            writer.u(32, 0x0202_0202)
            writer.u(1, 1)
            // One set of rates; delays of 24, 10 and 8 bits.
            writer.u(1, 1)
            writer.ue(0)
            writer.u(8, 0x11)
            writer.ue(5, 5)
            writer.u(1, 1)
            writer.u(5, 23)
            writer.u(5, 9)
            writer.u(5, 7)
            writer.u(5, 24)
            writer.u(1, 0)
            writer.u(1, 0)
            writer.u(1, 1)
            writer.u(1, 0)
        }
        return Self.startCode + writer.bytes
    }

    /// A slice of a frame (`nil`) or of the upper (false) or lower (true) field.
    private func slice(_ frame: UInt64, bottom: Bool?) -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, 0x41)
        writer.ue(0, 5, 0)
        writer.u(5, frame)
        writer.u(1, bottom == nil ? 0 : 1)
        if let bottom { writer.u(1, bottom ? 1 : 0) }
        writer.u(24, 0xABCDEF)
        return Self.startCode + writer.bytes
    }

    private func timing(_ structure: UInt64) -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, 0x06)
        writer.u(8, 1)
        writer.u(8, 3)
        writer.u(10, 0x155)
        writer.u(8, 0xAA)
        writer.u(4, structure)
        writer.u(2, 0b11)
        return Self.startCode + writer.bytes
    }

    @Test func fieldsOfOneNumberAndOppositeParityAreAFrame() throws {
        var pairs = try #require(H264FieldPairs(header: parameterSet()))
        // The lower field of frame 4 and the upper one of frame 5 are lost; frame 6 comes lower field first.
        let packets: [(frame: UInt64, bottom: Bool?, isSecond: Bool)] = [
            (1, false, false), (1, true, true), (2, false, false), (2, true, true), (3, nil, false), (4, false, false),
            (5, true, false), (6, true, false), (6, false, true), (6, true, false),
        ]
        for (place, packet) in packets.enumerated() {
            let head = Self.startCode + [0x09, 0x30] + slice(packet.frame, bottom: packet.bottom)
            #expect(pairs.isSecondField(head) == packet.isSecond, "packet \(place)")
        }
        #expect(!pairs.isSecondField([]) && !pairs.isSecondField(Self.startCode + [0x41]))
    }

    @Test func framesAloneHaveNoFields() {
        #expect(H264FieldPairs(header: parameterSet(framesOnly: true)) == nil)
        #expect(H264FieldPairs(header: []) == nil)
        let set = Array(parameterSet().dropFirst(3))
        let stored: [UInt8] = [1, 77, 0, 30, 0xFF, 0xE1, 0, UInt8(set.count)] + set + [0]
        #expect(PictureHeaders(codec: "h264", header: stored, sample: []).sequence?.scan == .interlaced)
    }

    /// Files that ffmpeg makes of transport streams have a sample for each field, with lengths before its units.
    @Test func fieldsOfSamplesWithLengthsAreTold() throws {
        let set = Array(parameterSet().dropFirst(3))
        let stored: [UInt8] = [1, 77, 0, 30, 0xFF, 0xE1, 0, UInt8(set.count)] + set + [0]
        var pairs = try #require(H264FieldPairs(header: stored))
        func sample(_ frame: UInt64, _ bottom: Bool?, declared: UInt8? = nil) -> [UInt8] {
            let unit = Array(slice(frame, bottom: bottom).dropFirst(3))
            return [0, 0, 0, 2, 0x09, 0x30, 0, 0, 0, declared ?? UInt8(unit.count)] + unit
        }
        #expect(pairs.isSecondField(sample(1, false)) == false)
        #expect(pairs.isSecondField(sample(1, true)) == true)
        #expect(pairs.isSecondField(sample(2, nil)) == false)
        // Of a packet only the beginning is looked at, in which the slice does not end.
        #expect(pairs.isSecondField(sample(3, true, declared: 255)) == false)
        #expect(pairs.isSecondField(sample(3, false, declared: 255)) == true)
        #expect(pairs.isJoinable(sample(3, false)) && !pairs.isJoinable([0, 0, 0, 2, 0x67, 1]))
    }

    @Test(
        arguments: [
            (0, .interlaced), (1, .topFieldFirst), (2, .bottomFieldFirst), (3, .topFieldFirst), (4, .bottomFieldFirst),
            (5, .topFieldFirst), (6, .bottomFieldFirst), (7, .interlaced),
        ] as [(UInt64, FieldOrder)])
    func pictureTimingTellsTheOrder(structure: UInt64, scan: FieldOrder) {
        let sample = timing(structure) + slice(0, bottom: nil)
        #expect(PictureHeaders(codec: "h264", header: parameterSet(), sample: sample).sequence?.scan == scan)
    }

    @Test func theFirstFieldTellsTheOrder() {
        func scan(_ sample: [UInt8]) -> FieldOrder? {
            PictureHeaders(codec: "h264", header: parameterSet(hasTiming: false), sample: sample).sequence?.scan
        }
        #expect(scan(slice(0, bottom: false)) == .topFieldFirst)
        #expect(scan(slice(0, bottom: true)) == .bottomFieldFirst)
        #expect(scan(slice(0, bottom: nil)) == .interlaced)
        // A message that the parameter set does not announce is not read.
        #expect(scan(timing(4)) == .interlaced)
        #expect(scan([]) == .interlaced)
    }
}
