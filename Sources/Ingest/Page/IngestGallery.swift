package import MediaBase

/// The page of a folder of ingested files; ``html()`` makes one self-contained HTML file of it.
///
/// Texts may be foreign: whatever they hold is shown as text. References are relative to the page and percent-encoded
/// (RFC 3986); others are not followed.
package struct IngestGallery: Sendable {
    /// The title of the page, such as the folder's name.
    package var title: String
    /// The files in any order; the page sorts them.
    package var entries: [Entry]

    /// Makes a page from its parts.
    package init(title: String, entries: [Entry] = []) {
        self.title = title
        self.entries = entries
    }

    /// One ingested file.
    package struct Entry: Sendable {
        /// The reference to the folder of its outputs.
        package var folder: String
        /// The name of the file.
        package var name: String
        /// The duration; `nil` if it is unknown.
        package var duration: MediaTime?
        /// The verdict of the policy; `nil` if none was asked.
        package var verdict: IngestPage.Verdict?
        /// The reference to the poster.
        package var poster: String?
        /// The reference to the file's own page; without it, the card leads to the folder.
        package var page: String?
        /// The number of warnings.
        package var warnings = 0
        /// The error that ended the file's work, as a sentence.
        package var error: String?

        /// Creates an entry that has a name and a folder, to which the rest is added.
        package init(folder: String, name: String) {
            self.folder = folder
            self.name = name
        }
    }

    /// Returns the page as one HTML file.
    package func html() throws(MediaError) -> String {
        var data = PageData()
        try data.add("title", title)
        try data.add("entries", entries.map(EntryRow.init))
        return try PageDocument.gallery.html(data)
    }
}

/// An entry as the script reads it.
private struct EntryRow: Encodable {
    let folder, name: String
    let duration: Double?
    let verdict: IngestPage.Verdict?
    let poster, page: String?
    let warnings: Int
    let error: String?

    init(_ entry: IngestGallery.Entry) {
        (folder, name) = (entry.folder, entry.name)
        duration = entry.duration.flatMap { $0.isNumeric ? $0.seconds : nil }
        (verdict, poster, page) = (entry.verdict, entry.poster, entry.page)
        (warnings, error) = (entry.warnings, entry.error)
    }
}
