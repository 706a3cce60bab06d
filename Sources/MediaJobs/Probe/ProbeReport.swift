package import MediaBase

/// What `probe` tells of one file.
///
/// Here and in all parts, the properties are declared in the schema's order, which the encoder keeps, and what is
/// unknown is `nil`, which it leaves out. `docs/schema/probe.json` describes each key.
package struct ProbeReport: Encodable, Sendable {
    /// The container as a whole.
    package var container: ContainerReport
    /// The tracks, in the container's order.
    package var tracks: [TrackReport]
    /// The chapters, in their order.
    package var chapters: [ChapterReport]
    /// The metadata of the container as a whole.
    package var metadata: [MetadataReport]
    /// Files and pictures that travel in the container.
    package var attachments: [AttachmentReport]
    /// The programs of a transport stream.
    package var programs: [ProgramReport]
    /// What was odd in the file's structure, one sentence each.
    package var warnings: [String]
}

/// A stretch of the presentation.
package struct TimeRangeReport: Encodable, Sendable {
    /// When it begins.
    package var start: MediaTime?
    /// How long it lasts.
    package var duration: MediaTime?

    init(_ range: MediaTimeRange) {
        start = range.start.ifNumeric
        duration = range.duration.ifNumeric
    }
}

/// A chapter.
package struct ChapterReport: Encodable, Sendable {
    /// Its title.
    package var title: String?
    /// When it begins and how long it lasts.
    package var timeRange: TimeRangeReport

    init(_ chapter: Chapter) {
        title = chapter.title
        timeRange = TimeRangeReport(chapter.timeRange)
    }
}

extension MediaTime {
    /// The time where it is a number; a report leaves out what is not known.
    var ifNumeric: MediaTime? { isNumeric ? self : nil }
}
