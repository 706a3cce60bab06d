/// Files of editing programs that are not media, told by their content, with the way to a timeline that is read.
enum EditingFile {
    /// Bytes at a file's beginning that tell.
    static let prefixBytes = 4096

    /// What a file is, and what to do with it, as a predicate; `nil` where it is none of them.
    static func description(of prefix: [UInt8]) -> String? {
        let conversion =
            "otioconvert (pip install opentimelineio-plugins) makes an .otio of it, which export, thumbs and waveform read"
        if prefix.starts(with: Array("PK\u{3}\u{4}".utf8)) {
            guard contains(prefix, "content.otio") else { return nil }
            return
                "is an OpenTimelineIO bundle (.otioz), not media; unpack it with unzip, and name the content.otio in it"
        }
        if prefix.starts(with: compoundDocument) {
            let isAAF = prefix.dropFirst(compoundDocument.count).starts(with: classOfAAF)
            return "is \(isAAF ? "an AAF" : "a compound document, perhaps an AAF"), not media; \(conversion)"
        }
        if contains(prefix, "<fcpxml") { return "is an FCPXML (Final Cut Pro), not media; \(conversion)" }
        if contains(prefix, "<xmeml") { return "is an XML of Final Cut Pro 7, not media; \(conversion)" }
        if contains(prefix, "\"OTIO_SCHEMA\"") {
            return "is an OpenTimelineIO timeline, not media; export, thumbs and waveform read it"
        }
        return isEditList(prefix) ? "is an edit decision list (EDL), not media; \(conversion)" : nil
    }

    /// The beginning of files in Microsoft's Compound File Binary format ([MS-CFB], 2.2).
    private static let compoundDocument: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]
    /// The class that AAF's files have (AAF Low-Level Container Specification).
    private static let classOfAAF: [UInt8] = [
        0x41, 0x41, 0x46, 0x42, 0x0D, 0x00, 0x4F, 0x4D, 0x06, 0x0E, 0x2B, 0x34, 0x01, 0x01, 0x01, 0xFF,
    ]

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        bytes.firstRange(of: Array(text.utf8)) != nil
    }

    /// Whether there is an event of CMX 3600: a number, and four timecodes at the line's end; or the lines above the first.
    private static func isEditList(_ prefix: [UInt8]) -> Bool {
        let lines = prefix.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        func begins(_ text: String) -> Bool { lines.contains { $0.starts(with: Array(text.utf8)) } }
        if begins("TITLE:"), begins("FCM:") { return true }
        return lines.prefix(64).contains { line in
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard words.count >= 8, let number = words.first, number.allSatisfy(isDigit) else { return false }
            return words.suffix(4).allSatisfy(isTimecode)
        }
    }

    private static func isTimecode(_ word: ArraySlice<UInt8>) -> Bool {
        word.count == 11
            && word.enumerated().allSatisfy { $0 % 3 == 2 ? ":;.,".utf8.contains($1) : isDigit($1) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
