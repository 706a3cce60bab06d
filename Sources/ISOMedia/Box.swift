package import MediaBase

/// One box (QuickTime: atom): its type and where it lies in the source.
///
/// Only the header has been read. The range is inside the parent's, whatever the header said.
///
/// ISO/IEC 14496-12, 4.2 (Box).
package struct Box: Hashable, Sendable {
    /// The type; `uuid` where ``userType`` tells.
    package let type: FourCC

    /// The sixteen bytes that name a `uuid` box; `nil` for others.
    package let userType: [UInt8]?

    /// Where the header begins.
    package let offset: UInt64

    /// The header's length: 8, with a 64-bit size 16, and 16 more for `uuid`.
    package let headerSize: UInt64

    /// Where what follows the header lies.
    package let payload: Range<UInt64>

    /// Where the whole box lies, header and payload.
    package var range: Range<UInt64> { offset..<payload.upperBound }

    /// The number of bytes after the header.
    package var payloadSize: UInt64 { payload.upperBound - payload.lowerBound }
}

/// What a box reader will not go beyond, whatever a file says.
package struct BoxLimits: Hashable, Sendable {
    /// How deep boxes may lie in each other; deeper ones are left out.
    package var depth = 16

    /// How many boxes are looked at in all.
    package var boxes = 100_000

    /// How many boxes are looked at on the top level, where a fragmented file has some for each fragment.
    package var topLevelBoxes = 10_000

    /// The largest payload that is taken into memory, in bytes.
    package var payload = 16 << 20

    /// How many bytes of payloads are taken into memory in all.
    package var payloads = 64 << 20

    /// How many bytes of sample tables are passed through in all; of these nothing is kept.
    package var tables = 512 << 20

    /// How many warnings are kept.
    package var warnings = 100

    /// The limits that a file of a real camera, encoder or editor stays within.
    package init() {}

    /// The limits in which the number of boxes is set; a tenth of them may lie on the top level.
    package init(_ limits: MediaLimits) {
        boxes = max(1, limits.boxes)
        topLevelBoxes = max(1, boxes / 10)
    }
}
