import AssetKit
import Dispatch
import FuzzSupport
import Glibc

private let file = InputFile()

/// Where the exports go, one over the other.
private let output = makeTemporaryFolder().appending("export")

/// Exports any bytes as a media file: the first byte says how, the second from when to when.
@_cdecl("fuzzExport")
public func fuzzExport(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard size > 2, let data else { return 0 }
    guard file.write(UnsafeRawBufferPointer(start: data + 2, count: size - 2)) else { return 0 }
    var options = Asset.Options()
    options.limits.pixels = 1 << 18
    options.limits.deadline = .now + .seconds(5)
    options.isPrecise = data[0] & 1 != 0
    let asset = Asset(descriptor: file.descriptor, options: options)
    // Stored samples most of the time: they meet what the file says of itself, and encoders cost time.
    let session = ExportSession(asset: asset, preset: data[0] & 6 == 6 ? .lowQuality : .passthrough)
    session.shouldOptimizeForNetworkUse = data[0] & 8 != 0
    if data[0] & 16 != 0, let duration = try? asset.loadNow(.duration), duration.isNumeric {
        let (start, end) = (Int64(data[1] & 15), Int64(data[1] >> 4))
        session.timeRange = MediaTimeRange(
            start: duration.multiplied(by: start, dividedBy: 15),
            end: duration.multiplied(by: max(start, end), dividedBy: 15))
    }
    let fileType: MediaFileType = [.mov, .mp4, .mkv, .m4a][Int(data[0] >> 5 & 3)]
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
        try? await session.export(to: output, as: fileType, overwrite: true)
        isDone.signal()
    }
    isDone.wait()
    // What was written can be opened.
    if session.state == .completed { _ = try? Asset(path: output, options: options).loadNow(.tracks) }
    _ = output.withPlatformString { unlink($0) }
    return 0
}

/// Where the program begins.
@_cdecl("FuzzExport_main")
public func begin(_ count: CInt, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    runFuzzer(count, arguments, fuzzExport)
}
