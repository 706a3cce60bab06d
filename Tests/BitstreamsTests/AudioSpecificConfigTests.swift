import Bitstreams
import MediaBase
import Testing

/// Headers of AAC written out by the table of ISO/IEC 14496-3, 1.6.2.1.
@Suite struct AudioSpecificConfigTests {
    @Test func plainHeadersSayRateAndChannels() throws {
        // 00010 0100 0010 0 0 0: AAC-LC, 44,100 Hz, two channels, frames of 1024.
        let plain = try AudioSpecificConfig([0x12, 0x10])
        #expect(plain.objectType == 2 && plain.sampleRate == 44100 && plain.channelConfiguration == 2)
        #expect(plain.frameLength == 1024 && plain.hasBandReplication == nil && plain.extendedSampleRate == nil)
        // 00010 1111 (24 bits of rate) 0001 1 0 0: 12,345 Hz, one channel, frames of 960.
        let odd = try AudioSpecificConfig([0x17, 0x80, 0x18, 0x1C, 0x8C])
        #expect(odd.sampleRate == 12345 && odd.channelConfiguration == 1 && odd.frameLength == 960)
    }

    @Test func bandReplicationIsSaidInTwoWays() throws {
        // 00010 0111 0010 000, 0x2B7, 00101, 1, 0100: AAC-LC at 22,050 Hz, doubled.
        let behind = try AudioSpecificConfig([0x13, 0x90, 0x56, 0xE5, 0xA0])
        #expect(behind.objectType == 2 && behind.sampleRate == 22050 && behind.extendedSampleRate == 44100)
        #expect(behind.hasBandReplication == true && behind.hasParametricStereo == nil)
        // The same with 0x548 and a one: one channel becomes two.
        let stereo = try AudioSpecificConfig([0x13, 0x88, 0x56, 0xE5, 0xA5, 0x48, 0x80])
        #expect(stereo.channelConfiguration == 1 && stereo.hasParametricStereo == true)
        // 00101 0111 0010 0100 00010 000: the other way, at the beginning.
        let before = try AudioSpecificConfig([0x2B, 0x92, 0x08, 0x00])
        #expect(before.objectType == 2 && before.sampleRate == 22050 && before.extendedSampleRate == 44100)
        #expect(before.hasBandReplication == true && before.frameLength == 1024)
        // A zero after 00101: there is none.
        #expect(try AudioSpecificConfig([0x13, 0x90, 0x56, 0xE5, 0x00]).hasBandReplication == false)
    }

    @Test func whatEndsTooEarlyIsRefused() {
        #expect(throws: MediaError.self) { try AudioSpecificConfig([]) }
        #expect(throws: MediaError.self) { try AudioSpecificConfig([0x12]) }
        // Rate number 13 stands for nothing.
        #expect(throws: MediaError.self) { try AudioSpecificConfig([0x16, 0x90]) }
    }
}
