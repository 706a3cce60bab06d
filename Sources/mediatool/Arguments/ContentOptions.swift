import ArgumentParser
import MediaBase
import MediaJobs

/// The options of commands that write media anew, which say what of the source is in it.
struct ContentOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Where to begin, exact to the frame and the sample: 12.5, 1:30.25, 01:00:10:00, 250f…", valueName: "time"),
        transform: CommonArgument.time)
    var start: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Where to end: the first moment that is not wanted.", valueName: "time"),
        transform: CommonArgument.time)
    var end: TimeExpression?

    @Option(
        help: ArgumentHelp(
            "The track of pictures: its index (0), v:N or id:N. (default: the first enabled one)", valueName: "track"),
        transform: CommonArgument.track)
    var videoTrack: TrackSelector?

    @Option(
        help: ArgumentHelp(
            "The tracks of sound, parted by commas: a:0,a:2. (default: all)", valueName: "tracks"),
        transform: {
            try $0.split(separator: ",", omittingEmptySubsequences: false).map { try CommonArgument.track(String($0)) }
        })
    var audioTracks: [TrackSelector]?

    @Option(help: "What becomes of sound: encoded anew, copied as it is, or left out.")
    var audio = ProxyRequest.AudioTreatment.encode

    func validate() throws {
        if case .time(let start) = start, case .time(let end) = end, start >= end {
            throw ValidationError("'--end' is not after '--start'.")
        }
        if audio == .none, audioTracks != nil {
            throw ValidationError("'--audio none' and '--audio-tracks' exclude each other.")
        }
    }
}
