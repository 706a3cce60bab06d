import Bitstreams
import MediaBase

/// Reads any bytes as the headers of pictures: the first byte chooses the codec, the second how much is its header.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPictures(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard bytes.count > 2 else { return 0 }
    let codecs = PictureHeaders.codecs.sorted()
    let rest = bytes.dropFirst(2)
    let header = rest.prefix(Int(bytes[1]))
    _ = PictureHeaders(
        codec: codecs[Int(bytes[0]) % codecs.count], header: Array(header), sample: Array(rest.dropFirst(header.count)))
    if var pairs = H264FieldPairs(header: Array(header)) {
        for _ in 0..<2 { _ = pairs.isSecondField(Array(rest.dropFirst(header.count))) }
    }
    return 0
}
