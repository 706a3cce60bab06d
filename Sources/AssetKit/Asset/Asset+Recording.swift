import LibAV
package import MediaBase
import Threading

extension Asset {
    /// The record that an asset keeps of what is read of its source, whoever reads.
    package enum Recording: Sendable, Hashable {
        /// No record.
        case none
        /// The number of bytes.
        case bytes
        /// The number of bytes, and the SHA-256 of the whole source, which is computed from what is read anyway.
        case digest

        /// Makes the record for an asset.
        var record: ReadingRecord? {
            switch self {
            case .none: nil
            case .bytes: ReadingRecord()
            case .digest: ReadingRecord(digest: .sha256)
            }
        }
    }

    /// The number of bytes that were read of the source so far, each as often as it was; `nil` if that is not recorded.
    ///
    /// Files that the source names are not counted, nor is the temporary file that has the contents of a pipe.
    package var bytesRead: Int? { record.map { Int(clamping: $0.bytesRead) } }

    /// The number of packets that readers have handed on, to decoders or as they are, except those of ``prerollPackets``.
    package var packetsDelivered: Int { packets.delivered.load(ordering: .relaxed) }

    /// The number of packets that jobs of a shared reading have read for themselves, such as those before a single frame.
    package var prerollPackets: Int { packets.preroll.load(ordering: .relaxed) }

    /// Counts a packet that was handed on.
    func countPacket() {
        if seat == nil {
            packets.delivered.add(1, ordering: .relaxed)
        } else {
            packets.preroll.add(1, ordering: .relaxed)
        }
    }

    /// Returns the SHA-256 of all bytes of the source, in hexadecimal digits, and reads what nobody has read of it.
    ///
    /// Call it when all readers are done: what they have read in order is not read again.
    ///
    /// - Returns: `nil` if the digest is not recorded.
    /// - Throws: `unsupported` for a pipe that is not spooled, `changed` if the file became shorter, and reading errors.
    package func sourceDigest() throws(MediaError) -> String? {
        guard let record else { return nil }
        do throws(MediaError) {
            _ = try contents()
            // All bytes of a pipe have passed on their way into the temporary file.
            let digest =
                isSpooled
                ? try record.finish() : try openedSource.completeDigest(record, deadline: options.limits.deadline)
            return digest?.hexadecimal
        } catch {
            throw error.at(path: displayName)
        }
    }
}

/// The packets that were read of an asset.
final class PacketCounts: Sendable {
    let delivered = Atomic(0)
    let preroll = Atomic(0)
}
