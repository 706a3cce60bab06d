package import MediaBase

/// The AAC header in MP4 and Matroska (`AudioSpecificConfig`).
///
/// ISO/IEC 14496-3, 1.6.2.1. Implicitly signalled spectral band replication, which doubles the sample rate, can be
/// detected only in the first frame.
package struct AudioSpecificConfig: Hashable, Sendable {
    /// The coding (`audioObjectType`); 2 is AAC-LC.
    package var objectType: Int
    /// The sample rate of the core coder in Hz.
    package var sampleRate: Int
    /// The channel configuration, from 1 to 15; 0 if a table of elements follows.
    package var channelConfiguration: Int
    /// The number of samples in a frame of the core coder; `nil` for codings other than AAC.
    package var frameLength: Int?
    /// True if spectral band replication is used; `nil` if the header does not state it.
    package var hasBandReplication: Bool?
    /// True if two channels are derived from one (parametric stereo); `nil` if the header does not state it.
    package var hasParametricStereo: Bool?
    /// The sample rate with band replication in Hz, if stated.
    package var extendedSampleRate: Int?

    private static let rates = [
        96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]

    /// Reads a header.
    ///
    /// - Throws: `damaged` if the header ends too early or contains a number without a meaning.
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
        // GASpecificConfig (4.4.1), for the object types without further fields in it.
        guard (1...4).contains(objectType) else { return }
        frameLength = try reader.flag() ? 960 : 1024
        if try reader.flag() { try reader.skip(14) }
        let hasExtension = try reader.flag()
        // Channel configuration 0 is followed by a table of variable length.
        guard !hasExtension, channelConfiguration > 0, hasBandReplication == nil else { return }
        // The extension, which old decoders skip, may be missing.
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
