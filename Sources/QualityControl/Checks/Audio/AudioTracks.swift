extension Check {
    static let audioTracks = Check(
        "audioTracks",
        "the number of audio tracks from which something can be decoded; every file has this number",
        of: .audio, example: Example("min: 1", passes: "qc-tone.wav", fails: "h264-bframes.mp4"),
        verdict: .value { measurements in
            let tracks = measurements.tracks.filter { $0.sound != nil }
            return .number(Double(tracks.reduce(0) { $0 + ($1.pairedTrackIndex == nil ? 1 : 2) }), 0)
        })
}
