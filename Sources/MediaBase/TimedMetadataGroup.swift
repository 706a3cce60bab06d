/// Metadata that holds for a part of the presentation: `AVTimedMetadataGroup`.
public struct TimedMetadataGroup: Sendable, Hashable {
    /// The part for which the items hold.
    public var timeRange: MediaTimeRange
    /// The items.
    public var items: [MetadataItem]

    /// Creates a group from its parts.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - timeRange: The part of the presentation for which they hold.
    public init(items: [MetadataItem], timeRange: MediaTimeRange) {
        self.items = items
        self.timeRange = timeRange
    }

    /// Creates the group of a chapter, with its title: `AVAsset.loadChapterMetadataGroups`.
    ///
    /// - Parameter chapter: The chapter.
    public init(_ chapter: Chapter) {
        let title = chapter.title.map {
            MetadataItem(
                .commonIdentifierTitle, .text($0), time: chapter.timeRange.start, duration: chapter.timeRange.duration)
        }
        self.init(items: title.map { [$0] } ?? [], timeRange: chapter.timeRange)
    }
}

extension Chapter {
    /// Creates a chapter of a group, with its first title in one of the preferred languages.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - languages: Tags of BCP 47 or codes of ISO 639, the most preferred first.
    public init(_ group: TimedMetadataGroup, preferredLanguages languages: [String] = []) {
        let titles = group.items.items(withCommonKey: .title).sorted(byPreferredLanguages: languages)
        self.init(timeRange: group.timeRange, title: titles.first?.value.text)
    }
}
