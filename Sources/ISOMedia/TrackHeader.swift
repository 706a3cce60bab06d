import MediaBase

/// A width and a height in unsigned 16.16 fixed point.
package struct FixedPointSize: Hashable, Sendable {
    /// The width in 1/65536 pixel.
    package var width: UInt32

    /// The height in 1/65536 pixel.
    package var height: UInt32

    /// Makes a size of its raw numbers.
    package init(width: UInt32, height: UInt32) {
        self.width = width
        self.height = height
    }
}

/// A track's place in the movie: its number, whether it is used, how long and how large it is shown.
///
/// ISO/IEC 14496-12, 8.3.2 (tkhd).
package struct TrackHeader: Hashable, Sendable {
    /// The number that names the track; not 0 in a sound file.
    package var trackID: UInt32

    /// All 24 flag bits: 1 enabled, 2 in the movie, 4 in the preview, 8 (ISO) the size is an aspect ratio.
    package var flags: UInt32

    /// How long the track is shown, in the movie's timescale; `nil` where "not known" is written.
    package var duration: UInt64?

    /// The stacking order: lower numbers are nearer to the viewer.
    package var layer: Int16

    /// The volume in 8.8 fixed point: 256 is full.
    package var volume: Int16

    /// The matrix a, b, u, c, d, v, x, y, w: 16.16 fixed point, but u, v and w 2.30.
    package var matrix: [Int32]

    /// The size before the matrix is applied.
    package var size: FixedPointSize

    /// Whether the track is meant to be used.
    package var isEnabled: Bool { flags & 1 != 0 }
}

extension TrackHeader {
    /// Reads a `tkhd` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        let (version, flags) = try reader.versionAndFlags()
        try reader.expect(version: version, atMost: 1)
        try reader.skip(version == 1 ? 16 : 8)
        trackID = try reader.uint32()
        self.flags = flags
        try reader.skip(4)
        duration = try reader.duration(version: version)
        try reader.skip(8)
        layer = try reader.int16()
        try reader.skip(2)
        volume = try reader.int16()
        try reader.skip(2)
        matrix = try reader.matrix()
        size = try reader.fixedPointSize()
    }
}

/// The three sizes that QuickTime keeps for a track, each after pixel aspect, before the track's matrix.
///
/// QuickTime File Format, "Track Aperture Mode Dimensions" (tapt).
package struct TrackApertures: Hashable, Sendable {
    /// What is shown: cropped to the clean aperture, square pixels (`clef`).
    package var clean: FixedPointSize?

    /// The whole picture with square pixels (`prof`).
    package var production: FixedPointSize?

    /// The whole picture in stored pixels (`enof`).
    package var encoded: FixedPointSize?
}

extension TrackApertures {
    /// Reads the boxes in a `tapt` box.
    init(_ boxes: [Box], reader: inout BoxReader) throws(MediaError) {
        for box in boxes {
            switch box.type {
            case "clef": clean = try reader.parse(box, Self.dimensions) ?? clean
            case "prof": production = try reader.parse(box, Self.dimensions) ?? production
            case "enof": encoded = try reader.parse(box, Self.dimensions) ?? encoded
            default: break
            }
        }
    }

    private static func dimensions(_ reader: inout BigEndianReader) throws(MediaError) -> FixedPointSize {
        try reader.skip(4)
        return try reader.fixedPointSize()
    }
}

extension BigEndianReader {
    /// Takes a transformation matrix: nine numbers.
    mutating func matrix() throws(MediaError) -> [Int32] {
        var matrix: [Int32] = []
        for _ in 0..<9 { matrix.append(try int32()) }
        return matrix
    }

    /// Takes a width and a height in 16.16.
    mutating func fixedPointSize() throws(MediaError) -> FixedPointSize {
        FixedPointSize(width: try uint32(), height: try uint32())
    }
}
