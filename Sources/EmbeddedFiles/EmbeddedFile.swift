internal import CEmbeddedFiles

/// A text file embedded in the program: a schema, a policy, or a page template.
///
/// The files are listed in `CEmbeddedFiles`, which the C compiler fills with `#embed`.
package struct EmbeddedFile: Sendable {
    /// The schema of the output of `export`.
    package static let exportSchema = EmbeddedFile(embedded_export_schema)
    /// The schema of the manifest that `ingest` writes.
    package static let ingestSchema = EmbeddedFile(embedded_ingest_schema)
    /// The schema of the output of `probe`.
    package static let probeSchema = EmbeddedFile(embedded_probe_schema)
    /// The schema of the output of `proxy`.
    package static let proxySchema = EmbeddedFile(embedded_proxy_schema)
    /// The schema of the output of `qc`.
    package static let qcSchema = EmbeddedFile(embedded_qc_schema)
    /// The schema of the policies that `qc` reads.
    package static let qcPolicySchema = EmbeddedFile(embedded_qc_policy_schema)
    /// The schema of the output of `thumbs`.
    package static let thumbsSchema = EmbeddedFile(embedded_thumbs_schema)
    /// The schema of the output of `waveform`.
    package static let waveformSchema = EmbeddedFile(embedded_waveform_schema)

    /// The policy `content`.
    package static let contentPolicy = EmbeddedFile(embedded_content_policy)
    /// The policy `ebu-r128`.
    package static let ebuR128Policy = EmbeddedFile(embedded_ebu_r128_policy)
    /// The policy `reference`.
    package static let referencePolicy = EmbeddedFile(embedded_reference_policy)
    /// The policy `web`.
    package static let webPolicy = EmbeddedFile(embedded_web_policy)

    /// The recipe `web` of `ingest`.
    package static let webRecipe = EmbeddedFile(embedded_web_recipe)
    /// The recipe `edit`.
    package static let editRecipe = EmbeddedFile(embedded_edit_recipe)
    /// The recipe `archive`.
    package static let archiveRecipe = EmbeddedFile(embedded_archive_recipe)
    /// The recipe `analyse`.
    package static let analyseRecipe = EmbeddedFile(embedded_analyse_recipe)

    /// The template of the `qc` results page, with the placeholders `summary` and `files`.
    package static let qcPage = EmbeddedFile(embedded_qc_page)

    /// The style of every page: colours, letters and controls.
    package static let pageStyle = EmbeddedFile(embedded_page_style)
    /// The script that every page begins with.
    package static let pageScript = EmbeddedFile(embedded_page_script)
    /// The template of the page of an ingested file, with the placeholders `policy`, `style`, `data` and `script`.
    package static let ingestPage = EmbeddedFile(embedded_ingest_page)
    /// The style of that page.
    package static let ingestStyle = EmbeddedFile(embedded_ingest_style)
    /// Its times, frames and timecodes.
    package static let ingestTimeScript = EmbeddedFile(embedded_ingest_time_script)
    /// Its player.
    package static let ingestPlayerScript = EmbeddedFile(embedded_ingest_player_script)
    /// Its time line.
    package static let ingestTimelineScript = EmbeddedFile(embedded_ingest_timeline_script)
    /// The pointer over its time line.
    package static let ingestPointerScript = EmbeddedFile(embedded_ingest_pointer_script)
    /// The lists beside its time line.
    package static let ingestListsScript = EmbeddedFile(embedded_ingest_lists_script)
    /// Its controls and keys.
    package static let ingestScript = EmbeddedFile(embedded_ingest_script)

    /// The template of the page of a folder, with the same placeholders.
    package static let galleryPage = EmbeddedFile(embedded_gallery_page)
    /// The style of that page.
    package static let galleryStyle = EmbeddedFile(embedded_gallery_style)
    /// Its script.
    package static let galleryScript = EmbeddedFile(embedded_gallery_script)

    /// The template of the report on a folder of ingested files, with the placeholders `policy`, `style`, `title` and `body`.
    package static let reportPage = EmbeddedFile(embedded_report_page)
    /// The style of that report.
    package static let reportStyle = EmbeddedFile(embedded_report_style)

    private let content: @Sendable @convention(c) () -> embedded_text

    private init(_ content: @escaping @Sendable @convention(c) () -> embedded_text) { self.content = content }

    /// The complete text.
    package var text: String {
        let content = content()
        return String(decoding: UnsafeBufferPointer(start: content.bytes, count: content.length), as: UTF8.self)
    }

    /// Returns the text with each `{{name}}` replaced by its value; placeholders inside values are not replaced.
    ///
    /// A name without a value remains unchanged.
    package func text(replacing values: [String: String]) -> String {
        var result = ""
        var rest = text[...]
        while let opening = rest.firstRange(of: "{{"), let closing = rest[opening.upperBound...].firstRange(of: "}}") {
            let name = String(rest[opening.upperBound..<closing.lowerBound])
            result += rest[..<opening.lowerBound]
            result += values[name] ?? String(rest[opening.lowerBound..<closing.upperBound])
            rest = rest[closing.upperBound...]
        }
        return result + rest
    }
}
