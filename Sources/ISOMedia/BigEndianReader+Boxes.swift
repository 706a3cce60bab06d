package import MediaBase

// The fields that many boxes begin with.

extension BigEndianReader {
    /// Takes four bytes as a code.
    package mutating func fourCC() throws(MediaError) -> FourCC { FourCC(rawValue: try uint32()) }

    /// Takes the version and the flags that open a "full box".
    ///
    /// ISO/IEC 14496-12, 4.2 (FullBox).
    package mutating func versionAndFlags() throws(MediaError) -> (version: UInt8, flags: UInt32) {
        let word = try uint32()
        return (UInt8(truncatingIfNeeded: word >> 24), word & 0xFF_FFFF)
    }

    /// Takes a time or a duration: eight bytes in version 1, four in version 0.
    ///
    /// - Returns: The number, or `nil` where all bits are set, which stands for "not known".
    package mutating func duration(version: UInt8) throws(MediaError) -> UInt64? {
        if version == 1 {
            let long = try uint64()
            return long == .max ? nil : long
        }
        let short = try uint32()
        return short == .max ? nil : UInt64(short)
    }

    /// Throws where a full box's version is above the highest that is known, because its layout is not.
    package func expect(version: UInt8, atMost highest: UInt8) throws(MediaError) {
        guard version <= highest else { throw MediaError(.damaged, "has the unknown version \(version)") }
    }
}
