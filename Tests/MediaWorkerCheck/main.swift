// The helper of MediaWorkerTests, with jobs that behave and jobs that do not.
import AssetKit
import CSandbox
import Glibc
import MediaWorker
import SystemPackage

/// A failure that is no MediaError.
struct Refusal: Error {}

var helper = MediaJobHelper()
helper.register(MediaJob<[Int], Int>("sum")) { $0.reduce(0, &+) }
helper.register(MediaJob<FilePath, Double>("duration")) { path in
    try await Asset(path: path).load(.duration).seconds
}
helper.register(MediaJob<Int, Int32>("process")) { _ in getpid() }
helper.register(MediaJob<String, String>("read")) { path in
    let file = try FileDescriptor.open(path, .readOnly)
    try file.close()
    return "read"
}
helper.register(MediaJob<[String], String>("export")) { paths in
    let session = ExportSession(asset: Asset(path: FilePath(paths[0])), preset: .passthrough)
    try await session.export(to: FilePath(paths[1]), as: .mov, overwrite: paths.count > 2)
    return "exported"
}
// Long enough for libdispatch to look at its threads, which it does once a second.
helper.register(MediaJob<Int, Int>("tasks")) { count in
    let tasks = (0..<count).map { number in
        Task.detached {
            let end = ContinuousClock.now + .milliseconds(1500)
            while ContinuousClock.now < end { await Task.yield() }
            return number
        }
    }
    var sum = 0
    for task in tasks { sum += await task.value }
    return sum
}
helper.register(MediaJob<String, String>("fail")) { kind in
    switch kind {
    case "abort": abort()
    case "loop": while true {}
    case "sleep": sleep(600)
    case "memory":
        while true {
            let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 8 << 20, alignment: 16)
            block.initializeMemory(as: UInt8.self, repeating: 1)
            usleep(10_000)
        }
    case "error": throw MediaError(.damaged, "is not what it seems", path: "film.mov", cause: "a cause")
    case "refusal": throw Refusal()
    case "exit": exit(3)
    case "hang up":
        for descriptor in CInt(3)..<20 { close(descriptor) }
        sleep(600)
    case "hang up calls":
        // All but the channel that brings results.
        for descriptor in CInt(4)..<20 { close(descriptor) }
        sleep(600)
    case "empty packet":
        _ = csb_send(3, "", 0, nil, 0, 1)
        sleep(600)
    case "nonsense":
        _ = csb_send(3, "\u{7}xyz", 4, nil, 0, 1)
        sleep(600)
    case "two results":
        // The first is not this job's; the second nobody has asked for.
        for _ in 0..<2 { _ = csb_send(3, "\u{0}\u{1}xyz", 5, nil, 0, 1) }
        sleep(600)
    case "descriptors":
        var files = [CInt](repeating: 0, count: 8)
        _ = csb_send(3, "\u{0}\u{0}x", 3, &files, 8, 1)
        sleep(600)
    case "long": return String(repeating: "a", count: 2_000_000)
    default: break
    }
    return kind
}
helper.serve()
