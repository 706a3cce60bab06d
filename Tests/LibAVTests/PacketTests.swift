import LibAV
import MediaBase
import TestSupport
import Testing

@Suite struct PacketTests {
    @Test func fieldsAreFFprobes() throws {
        let lines = try FFmpeg.probe(
            [
                "-ignore_editlist", "1", "-show_entries", "packet=stream_index,pts,dts,duration,size,pos,flags", "-of",
                "csv=p=0",
                Fixtures.path("av.mp4"),
            ])
        let file = try Media.file("av.mp4")
        for line in lines {
            let fields = line.split(separator: ",").map(String.init)
            let packet = try file.nextPacket()
            #expect(String(packet.streamIndex) == fields[0])
            #expect(packet.pts.map(String.init) == fields[1])
            #expect(packet.dts.map(String.init) == fields[2])
            #expect(String(packet.duration) == fields[3])
            #expect(String(packet.size) == fields[4])
            #expect(packet.position.map(String.init) == fields[5])
            #expect(packet.isKey == fields[6].hasPrefix("K"))
            #expect(packet.isDiscarded == fields[6].contains("D"))
            #expect(packet.isCorrupt == false)
            #expect(packet.withBytes { $0.byteCount } == packet.size)
        }
        for _ in 0..<2 {
            if case .some = try file.readPacket() { Issue.record("a packet after the end") }
        }
    }

    /// Bit 19 says that the number of samples follows in bits 23 to 54.
    @Test func samplesOfAppleLossless() {
        #expect(Packet.alacSamples([0x20, 0, 0x02, 0, 0, 0, 0]) == nil)
        #expect(Packet.alacSamples([0x20, 0, 0x12, 0, 0, 0, 200]) == 100)
        #expect(Packet.alacSamples([0x20, 0, 0x13, 0xFF, 0xFF, 0xFF, 0xFF]) == 0xFFFF_FFFF)
        #expect(Packet.alacSamples([0x20, 0, 0x12]) == nil)
    }

    @Test func packetsOutliveTheFile() throws {
        let content = try Fixtures.bytes("av.mp4")
        func first() throws -> Packet { try Media.file("av.mp4").nextPacket() }
        let packet = try first()
        let place = Int(packet.position ?? -1)
        #expect(place > 0)
        #expect(
            packet.withBytes { span in span.withUnsafeBytes { Array($0) } }
                == Array(content[place..<place + packet.size]))
    }

    /// By the tables of RFC 6716: modes and frame sizes of 3.1, numbers of frames of 3.2.
    @Test func opusSaysHowLongItLasts() {
        let milliseconds: [Double] =
            [10, 20, 40, 60, 10, 20, 40, 60, 10, 20, 40, 60] + [10, 20, 10, 20]
            + [2.5, 5, 10, 20, 2.5, 5, 10, 20, 2.5, 5, 10, 20, 2.5, 5, 10, 20]
        for (configuration, length) in milliseconds.enumerated() {
            let samples = Int(length * 48)
            let first = UInt8(configuration << 3)
            #expect(Packet.opusSamples([first, 5]) == samples)
            #expect(
                Packet.opusSamples([first | 1, 5]) == 2 * samples && Packet.opusSamples([first | 2]) == 2 * samples)
            #expect(Packet.opusSamples([first | 3, 0xC0 | 5]) == 5 * samples)
        }
        #expect(Packet.opusSamples([]) == 0 && Packet.opusSamples([3]) == 0)
    }
}
