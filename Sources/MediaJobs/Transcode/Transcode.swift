internal import AssetKit
internal import FileOutput
internal import Inspection
internal import MediaBase
internal import SystemCalls
internal import SystemPackage
internal import Threading

/// Writes what a plan of `proxy` or `export` asks for, and verifies the finished file before it is put in place.
struct Transcode {
    /// The source.
    let asset: Asset
    /// The tracks of the output.
    let tracks: [ExportSession.Track]
    /// The part of the source to write, rounded already.
    let range: MediaTimeRange
    /// The timecode of the first frame; `nil` for that of the source.
    var startTimecode: String?
    /// True if damage in the source is an error.
    let isStrict: Bool
    /// The number of decoding threads; 0 for the default.
    let threads: Int
    /// True if samples are copied, which limits the size of the output.
    var copies = false
    /// The source's name for errors that have no path.
    let name: String
    /// The cause, in the source, if nothing at all can be written.
    var errorOfNothing: MediaError?

    /// Writes the file.
    ///
    /// - Parameters:
    ///   - record: Receives what is written.
    ///   - verify: Compares the finished file with the record and makes the report; its errors get no path, because the
    ///     file is still temporary.
    /// - Throws: The errors of reading, encoding, writing and verifying. No output remains in that case.
    func run<Report: Sendable>(
        to path: FilePath, as fileType: MediaFileType, outputs: OutputFileSet, makesFolder: Bool,
        record: TranscodeRecord, progress: (@Sendable (JobProgress) -> Void)?,
        verify: @escaping @Sendable (ExportSession.Finished, DamageSummary) throws(MediaError) -> Report
    ) throws(MediaError) -> Report {
        let output = try outputs.limited(to: asset.outputAllowance(copying: copies))
            .beginning(path, makesFolder: makesFolder)
        let session = ExportSession(asset: asset, tracks: tracks)
        session.timeRange = range
        session.startTimecode = startTimecode
        let report = Mutex<Report?>(nil)
        let leading = tracks.firstIndex(where: \.isVideo) ?? 0
        var job = ExportSession.JobOptions()
        job.isTimeRangeExact = true
        job.passesOverUndecodableAudio = !isStrict
        job.threads = threads
        job.observer = { [weak session, range] track, buffer in
            record.add(buffer, to: track)
            guard let progress, let session, track == leading, buffer.presentationTime.isNumeric else { return }
            let seconds = (buffer.presentationTime - range.start).seconds
            progress(JobProgress(fraction: session.fractionCompleted, seconds: seconds))
        }
        job.verification = { [isStrict, name] finished throws(MediaError) in
            let damage = DamageSummary(finished.damage)
            if isStrict, let error = damage.strictError { throw error.at(path: name) }
            do throws(MediaError) {
                let made = try verify(finished, damage)
                report.withLock { $0 = made }
            } catch {
                // Remove the temporary path; the file gets its own name only now.
                var unnamed = error
                unnamed.path = nil
                throw unnamed
            }
        }
        session.job = job
        do throws(MediaError) {
            try session.exportNow(to: output, as: fileType)
        } catch {
            let isEmpty = session.isPrepared && tracks.indices.allSatisfy { record[$0] == nil }
            if error.code == .invalidArgument, isEmpty, let errorOfNothing { throw errorOfNothing.at(path: name) }
            throw error.at(path: name)
        }
        guard let report = report.withLock({ $0 }) else {
            throw MediaError(.libraryFailure, "the finished file was not looked at", path: path.string)
        }
        return report
    }
}

extension OutputFileSet {
    /// Opens a media file for writing; see ``begin(_:goesBack:)``.
    ///
    /// - Parameter makesFolder: True to make the output's folder if it does not exist.
    fileprivate func beginning(_ path: FilePath, makesFolder: Bool) throws(MediaError) -> OutputFile {
        try makesFolder ? beginInFolder(path, goesBack: true) : begin(path, goesBack: true)
    }
}

/// Records what is written to each track, to verify the finished file.
///
/// Each track reports on its own thread. Times are on the source's time line.
final class TranscodeRecord: Sendable {
    private let state = Mutex<[Int: Track]>([:])
    private let range: MediaTimeRange
    private let keepsTimes: Bool

    /// A summary of the buffers of one track.
    struct Track: Sendable {
        /// The presentation time of each video frame, if they are kept; empty for audio.
        var times: [MediaTime] = []
        /// The number of buffers shown within the range.
        var shown = 0
        /// The start time of the first buffer that is not marked as hidden; +∞ if there is none.
        var start = MediaTime.positiveInfinity
        /// The end time of the last buffer that is not marked as hidden.
        var end = MediaTime.negativeInfinity
        /// The start time of the first buffer, including hidden ones.
        var earliest = MediaTime.positiveInfinity
        /// The start time of the first shown buffer that starts in the range.
        var firstInside = MediaTime.positiveInfinity
        /// The end time of that buffer.
        var firstInsideEnd = MediaTime.positiveInfinity
        /// The sample rate of decoded audio in Hz; 0 for other tracks.
        var sampleRate = 0
        /// The channel layout of decoded audio.
        var channelLayout: ChannelLayout?
    }

    /// Creates an empty record.
    ///
    /// - Parameters:
    ///   - range: The part of the source that is shown.
    ///   - keepsTimes: True to keep the time of each video frame.
    init(range: MediaTimeRange, keepsTimes: Bool = false) {
        self.range = range
        self.keepsTimes = keepsTimes
    }

    /// Records a buffer of the track at an index of the output.
    func add(_ buffer: SampleBuffer, to track: Int) {
        let time = buffer.presentationTime
        guard time.isNumeric else { return }
        state.withLock { state in
            state[track, default: Track()].add(buffer, at: time, in: range, keepsTimes: keepsTimes)
        }
    }

    /// Returns the summary of the track at an index; `nil` if it received no buffers.
    subscript(track: Int) -> Track? { state.withLock { $0[track] } }

    /// Returns true if something of the track is shown within the range.
    func isShown(_ track: Int) -> Bool { (self[track]?.shown ?? 0) > 0 }
}

extension TranscodeRecord.Track {
    fileprivate mutating func add(
        _ buffer: SampleBuffer, at time: MediaTime, in range: MediaTimeRange, keepsTimes: Bool
    ) {
        earliest = min(earliest, time)
        guard !buffer.attachments.contains(.isNotShown) else { return }
        start = min(start, time)
        if buffer.duration.isNumeric { end = max(end, time + buffer.duration) }
        if keepsTimes { times.append(time) }
        if let sound = buffer.audioBuffer, sampleRate == 0 {
            (sampleRate, channelLayout) = (sound.sampleRate, sound.channelLayout)
        }
        let ending = buffer.duration.isNumeric ? time + buffer.duration : time
        guard time < range.end, time >= range.start || ending > range.start else { return }
        shown += 1
        if time >= range.start, time < firstInside { (firstInside, firstInsideEnd) = (time, ending) }
    }
}
