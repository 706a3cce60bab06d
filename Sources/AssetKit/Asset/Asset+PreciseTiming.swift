import LibAV
import MediaBase

extension Asset {
    /// Reads all packets of a file for the exact durations of its tracks, and for the jumps of its clock.
    ///
    /// A file whose clock jumps is read twice, because the times after a jump are known only when all packets are.
    ///
    /// - Parameters:
    ///   - file: A file from which no packet has been read yet; it is at its end afterwards.
    ///   - contents: The contents by the file's headers, which become exact.
    ///   - cancellation: Cancels the second reading.
    /// - Throws: Errors from reading.
    func readPrecisely(
        _ file: InputFile, _ contents: inout AssetContents, _ cancellation: Cancellation
    ) throws(MediaError) -> PacketScan {
        file.times = contents.times
        file.followClock()
        var scan = try PacketScan(file, origin: contents.mediaOrigin(ofStream:))
        let jumps = file.foundJumps
        if !jumps.all.isEmpty {
            contents.clockJumps = jumps
            let again = try open(cancellation)
            contents.apply(to: again)
            scan = try PacketScan(again, origin: contents.mediaOrigin(ofStream:))
        }
        contents = try AssetContents(file, scan: scan, programOrigins: contents.programOrigins, clockJumps: jumps)
        return scan
    }
}

extension ClockJumps {
    /// Returns the warning that the clock jumps, with the first place; `nil` if it does not.
    ///
    /// - Parameter origin: The container's time that is zero in the presentation.
    func warning(since origin: MediaTime) -> String? {
        guard let first = all.first else { return nil }
        let time = MediaTime(value: first.ticks, timescale: ClockJumps.timescale) - origin
        let count =
            switch all.count {
            case 1: ""
            case 2: " and once more after that"
            default: " and \(all.count - 1) more times after that"
            }
        return "the clock jumps at \(time.clockText())\(count); what follows is shown as if it did not"
    }
}
