internal import AssetKit
internal import EmbeddedFiles
internal import Inspection
internal import MediaBase

/// A self-contained HTML page, made of a template, styles, scripts and data.
///
/// Text from files is in the data alone, and the scripts show it as text of elements. The page's Content-Security-Policy
/// (CSP level 3) allows its one style and its one script, by their hashes, and pictures and media beside the page;
/// nothing is loaded from a network, and no text can become markup or code.
struct PageDocument {
    /// The template, with the placeholders `policy`, `style`, `data` and `script`.
    let template: EmbeddedFile
    /// The parts of the style, in order.
    let styles: [EmbeddedFile]
    /// The parts of the script, in order; they share their names.
    let scripts: [EmbeddedFile]

    /// Returns the page's HTML.
    func html(_ data: PageData) throws(MediaError) -> String {
        let style = styles.map(\.text).joined()
        let script = scripts.map(\.text).joined()
        return template.text(replacing: [
            "policy": try Self.policy(style: style, script: script), "style": style, "data": data.text,
            "script": script,
        ])
    }

    /// Returns the policy of a page with one style and one script.
    ///
    /// `file:` is for pages that are opened from a folder, for which `'self'` means nothing in some browsers, `data:` for
    /// the page's icon.
    static func policy(style: String, script: String) throws(MediaError) -> String {
        [
            "default-src 'none'", "script-src \(try source(script))", "style-src \(try source(style))",
            "img-src 'self' file: data:", "media-src 'self' file:", "base-uri 'none'", "form-action 'none'",
            "require-trusted-types-for 'script'", "trusted-types 'none'",
        ].joined(separator: "; ")
    }

    private static func source(_ text: String) throws(MediaError) -> String {
        var digest = try ContentDigest(.sha256)
        digest.update(Array(text.utf8))
        return "'sha256-\(digest.finishBytes().base64)'"
    }
}

extension PageDocument {
    /// The page of one ingested file.
    static let ingest = PageDocument(
        template: .ingestPage, styles: [.pageStyle, .ingestStyle],
        scripts: [
            .pageScript, .ingestTimeScript, .ingestPlayerScript, .ingestTimelineScript, .ingestPointerScript,
            .ingestListsScript, .ingestScript,
        ])

    /// The page of a folder of ingested files.
    static let gallery = PageDocument(
        template: .galleryPage, styles: [.pageStyle, .galleryStyle], scripts: [.pageScript, .galleryScript])
}

extension PageDocument {
    /// Returns a page without scripts and data.
    ///
    /// - Parameters:
    ///   - title: The title, as HTML.
    ///   - body: The content, as HTML.
    static func report(title: String, body: String) throws(MediaError) -> String {
        let style = EmbeddedFile.reportStyle.text
        return EmbeddedFile.reportPage.text(replacing: [
            "policy": "default-src 'none'; style-src \(try source(style)); base-uri 'none'; form-action 'none'",
            "style": style, "title": title, "body": body,
        ])
    }
}
