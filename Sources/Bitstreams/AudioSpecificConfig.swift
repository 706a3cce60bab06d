package import MediaBase

/// The header of AAC in MP4 and Matroska (`AudioSpecificConfig`).
///
/// ISO/IEC 14496-3, 1.6.2.1. A rate that the header doubles without a word (implicit signalling of spectral band
/// replication) shows in the first frame alone.
package struct AudioSpecificConfig: Hashable, Sendable {
    /// The kind of coding (`audioObjectType`): 2 is AAC-LC.
    package var objectType: Int
    /// Samples a second of the core coder.
    package var sampleRate: Int
    /// How channels are configured, from 1 to 15; 0 where a table of elements follows.
    package var channelConfiguration: Int
    /// Samples in a frame of the core coder; `nil` for codings other than AAC's.
    package var frameLength: Int?
    /// Spectral band replication is used; `nil` where the header does not say.
    package var hasBandReplication: Bool?
    /// Two channels are made from one (parametric stereo); `nil` where the header does not say.
    package var hasParametricStereo: Bool?
    /// Samples a second with band replication, where that is said.
    package var extendedSampleRate: Int?

    private static let rates = [
        96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]

    /// Reads a header.
    ///
    /// - Throws: `damaged` for one that ends too early or has a number that stands for nothing.
    package init(_ header: [UInt8]) throws(MediaError) {
        var reader = BitReader(header)
        objectType = try Self.objectType(&reader)
        sampleRate = try Self.sampleRate(&reader)
        channelConfiguration = Int(try reader.bits(4))
        if objectType == 5 || objectType == 29 {
            hasBandReplication = true
            if objectType == 29 { hasParametricStereo = true }
            extendedSampleRate = try Self.sampleRate(&reader)
            objectType = try Self.objectType(&reader)
        }
        // GASpecificConfig, 4.4.1, of the codings that have nothing more in it.
        guard (1...4).contains(objectType) else { return }
        frameLength = try reader.flag() ? 960 : 1024
        if try reader.flag() { try reader.skip(14) }
        let hasExtension = try reader.flag()
        // A table of channels has a length of its own.
        guard !hasExtension, channelConfiguration > 0, hasBandReplication == nil else { return }
        // What old decoders pass over; it may be missing.
        try? readExtension(&reader)
    }

    private mutating func readExtension(_ reader: inout BitReader) throws(MediaError) {
        guard try reader.bits(11) == 0x2B7, try Self.objectType(&reader) == 5 else { return }
        let isUsed = try reader.flag()
        hasBandReplication = isUsed
        guard isUsed else { return }
        extendedSampleRate = try Self.sampleRate(&reader)
        guard try reader.bits(11) == 0x548 else { return }
        hasParametricStereo = try reader.flag()
    }

    private static func objectType(_ reader: inout BitReader) throws(MediaError) -> Int {
        let type = Int(try reader.bits(5))
        return type == 31 ? 32 + Int(try reader.bits(6)) : type
    }

    private static func sampleRate(_ reader: inout BitReader) throws(MediaError) -> Int {
        let index = Int(try reader.bits(4))
        if index == 15 { return Int(try reader.bits(24)) }
        guard rates.indices.contains(index) else { throw MediaError(.damaged, "has an impossible sample rate") }
        return rates[index]
    }
}
