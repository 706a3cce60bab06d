import ArgumentParser
import AssetKit
import MediaBase
import SystemPackage
import Timelines

/// The options of commands that read timelines.
struct TimelineOptions: ParsableArguments {
    @Flag(help: "Let the timeline take media from outside its folder.")
    var allowOutside = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Search this folder and its subfolders by name for media that is not at the timeline's path; repeatable.",
            valueName: "folder"))
    var mediaFolder: [PathArgument] = []

    @Option(
        help: ArgumentHelp(
            "Let the timeline take media from these servers and S3 buckets, separated by commas.",
            valueName: "host[,host…]"),
        transform: CommonArgument.list { $0.lowercased() })
    var allowNetwork: [String]?

    @Flag(help: "Turn clips whose media is missing into gaps instead of failing.")
    var allowMissing = false

    @Flag(help: "Leave out effects that cannot be rendered, instead of failing.")
    var ignoreEffects = false

    @Option(
        help: ArgumentHelp(
            "The audio of clips at another speed: spectral keeps its pitch (the default); with varispeed, the pitch "
                + "follows the speed.", valueName: "algorithm"))
    var timePitch: Named<AudioTimePitchAlgorithm>?

    /// The timeline settings that the options select.
    var settings: TimelineSettings {
        var settings = TimelineSettings()
        settings.allowsOutside = allowOutside
        settings.allowedHosts = Set(allowNetwork ?? [])
        settings.mediaFolders = mediaFolder.map(\.path)
        settings.allowsMissing = allowMissing
        settings.ignoresEffects = ignoreEffects
        if let timePitch { settings.audioTimePitchAlgorithm = timePitch.value }
        return settings
    }

    /// Returns the timeline in an input, or `nil` for media, of which nothing is consumed.
    ///
    /// - Parameter requiresSchema: True to accept other JSON only if it declares itself a timeline, because the input could be
    ///   something else.
    static func file(
        _ file: InputArgument, requiresSchema: Bool = false, until deadline: ContinuousClock.Instant?
    ) throws(MediaError) -> TimelineFile? {
        if file.isRemote { return nil }
        return file.isStandardStream
            ? try TimelineFile(standardInput: .standardInput, requiresSchema: requiresSchema, until: deadline)
            : try TimelineFile(path: file.path, requiresSchema: requiresSchema, until: deadline)
    }
}
