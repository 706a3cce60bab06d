import CSystemCalls
import Glibc
package import SystemPackage

/// The first bytes that wait in a pipe, which stay in it to be read; none where it is no pipe, or ended: tee(2).
///
/// Waits up to two seconds for at least twenty bytes.
package func peekPipe(_ pipe: FileDescriptor, atMost count: Int) -> [UInt8] {
    guard let copy = try? FileDescriptor.pipe() else { return [] }
    defer {
        try? copy.readEnd.close()
        try? copy.writeEnd.close()
    }
    var found: [UInt8] = []
    for _ in 0..<200 {
        let copied = csc_tee(pipe.rawValue, copy.writeEnd.rawValue, count)
        guard copied > 0 else { return found }
        found = (try? readSome(from: copy.readEnd, atMost: copied)) ?? []
        var state = pollfd(fd: pipe.rawValue, events: Int16(POLLIN), revents: 0)
        _ = poll(&state, 1, 0)
        if found.count >= 20 || state.revents & Int16(POLLHUP) != 0 { return found }
        usleep(10_000)
    }
    return found
}
