import CSystemCalls
import Glibc
package import SystemPackage

/// The first bytes that wait in a pipe, which stay in it to be read; none where it is no pipe, or ended: tee(2).
///
/// Waits for something to come, and then up to two seconds for at least twenty bytes.
///
/// - Parameters:
///   - pipe: The end that is read.
///   - count: How many bytes are wanted.
///   - deadline: Until when it waits; `nil` for as long as it takes.
package func peekPipe(
    _ pipe: FileDescriptor, atMost count: Int, until deadline: ContinuousClock.Instant? = nil
) -> [UInt8] {
    // tee(2) itself waits without end.
    guard waitForInput(pipe, until: deadline), let copy = try? FileDescriptor.pipe() else { return [] }
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

/// Waits until something can be read, the other end is closed or reading fails: poll(2).
///
/// - Parameter deadline: Until when is waited; `nil` for as long as it takes.
/// - Returns: Whether reading does not have to wait; `false` where the deadline has passed.
package func waitForInput(_ file: FileDescriptor, until deadline: ContinuousClock.Instant?) -> Bool {
    var request = pollfd(fd: file.rawValue, events: Int16(POLLIN), revents: 0)
    while true {
        if let deadline, ContinuousClock.now >= deadline { return false }
        let ready = poll(&request, 1, 100)
        if ready > 0 || ready < 0 && errno != EINTR { return true }
    }
}
