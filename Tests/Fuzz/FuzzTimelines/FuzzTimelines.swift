import AssetKit
import FuzzSupport
import MediaBase
import SystemPackage
import Timelines

/// A folder with a timeline and a second of sound, which it may name as `a.wav`.
private let folder: FilePath = {
    let folder = makeTemporaryFolder()
    let sizes: [UInt32] = [48_000, 96_000]
    var wave = Array("RIFF".utf8) + little(96_036) + Array("WAVEfmt ".utf8) + little(16)
    wave += [1, 0, 1, 0] + little(sizes[0]) + little(sizes[1]) + [2, 0, 16, 0] + Array("data".utf8) + little(sizes[1])
    write(wave + [UInt8](repeating: 1, count: Int(sizes[1])), to: folder.appending("a.wav"))
    return folder
}()

private func little(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

private func write(_ bytes: some Collection<UInt8>, to path: FilePath) {
    guard
        let file = try? FileDescriptor.open(
            path, .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
    else { return }
    defer { try? file.close() }
    _ = try? file.writeAll(bytes)
}

/// Reads any bytes as a timeline, the first of which says how, and looks for its media, also by name.
@_cdecl("fuzzTimelines")
public func fuzzTimelines(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard size > 1, let data else { return 0 }
    let path = folder.appending("cut.otio")
    write(UnsafeBufferPointer(start: data + 1, count: size - 1), to: path)
    guard let file = try? TimelineFile(path: path) else { return 0 }
    var settings = TimelineSettings()
    settings.allowsMissing = data[0] & 1 != 0
    settings.ignoresEffects = data[0] & 2 != 0
    if data[0] & 4 != 0 { settings.mediaFolders = [folder] }
    var options = Asset.Options()
    options.limits.deadline = .now + .seconds(5)
    guard let timeline = try? OpenTimeline(file, settings, opening: options) else { return 0 }
    let tracks = try? timeline.asset().loadNow(.tracks)
    precondition(tracks?.isEmpty == false)
    return 0
}

/// Where the program begins.
@_cdecl("FuzzTimelines_main")
public func begin(_ count: CInt, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    runFuzzer(count, arguments, fuzzTimelines)
}
