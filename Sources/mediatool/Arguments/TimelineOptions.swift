import ArgumentParser
import MediaBase
import MediaJobs
import SystemPackage

/// The options of commands that read timelines.
struct TimelineOptions: ParsableArguments {
    @Flag(help: "Let the timeline take media from outside its folder.")
    var allowOutside = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Look for media by its name in this folder and those inside, where the timeline's path does not lead to it; "
                + "repeatable.", valueName: "folder"))
    var mediaFolder: [PathArgument] = []

    @Flag(help: "Make clips whose media is missing gaps, instead of failing.")
    var allowMissing = false

    @Flag(help: "Leave out effects that cannot be rendered, instead of failing.")
    var ignoreEffects = false

    /// What was asked for.
    var settings: TimelineSettings {
        var settings = TimelineSettings()
        settings.allowsOutside = allowOutside
        settings.mediaFolders = mediaFolder.map(\.path)
        settings.allowsMissing = allowMissing
        settings.ignoresEffects = ignoreEffects
        return settings
    }

    /// The timeline that an input is; `nil` for media, of which nothing was taken then.
    ///
    /// - Parameter isSure: Whether JSON has to say that it is a timeline, because it could be something else too.
    static func file(
        _ file: PathArgument, isSure: Bool = false, until deadline: ContinuousClock.Instant?
    ) throws(MediaError) -> TimelineFile? {
        file.isStandardStream
            ? try TimelineFile(standardInput: .standardInput, isSure: isSure, until: deadline)
            : try TimelineFile(path: file.path, isSure: isSure, until: deadline)
    }
}
