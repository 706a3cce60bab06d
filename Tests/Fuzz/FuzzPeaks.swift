import MediaBase
import Peaks

/// Reads any bytes as a peaks file, and writes what came of it in all forms.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPeaks(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    _ = PeakFile.format(ofPrefix: bytes)
    guard let peaks = try? PeakFile.decode(bytes) else { return 0 }
    precondition(peaks.length * 2 * peaks.channels == peaks.data.count)
    _ = peaks.point(peaks.length - 1, channel: peaks.channels - 1)
    _ = peaks.point(peaks.length, channel: -1)
    _ = try? peaks.coarser(by: 3)
    if let spacing = try? Peaks.Spacing(samples: peaks.samplesPerPixel) { _ = try? peaks.coarser(to: spacing) }
    for bits in [8, 16] {
        guard let converted = try? peaks.converted(toBits: bits) else { continue }
        for format in [PeakFile.Format.binary, .json] {
            guard let written = try? PeakFile.encode(converted, as: format) else { continue }
            precondition((try? PeakFile.decode(written))?.data == converted.data)
        }
    }
    return 0
}
