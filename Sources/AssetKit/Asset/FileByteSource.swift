import LibAV
import MediaBase

/// The bytes of an open file for readers of its structure, apart from libavformat's own reading.
struct FileByteSource: ByteSource {
    let file: InputFile

    var size: UInt64? { file.length.flatMap { UInt64(exactly: $0) } }

    func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        try file.bytes(at: offset, count: count)
    }
}
