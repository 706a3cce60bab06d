import ISOMedia
import LibAV
import MatroskaMedia

extension InputFile {
    /// Whether the file is shorter than its own header, index or last page says; to be asked when all has been read.
    ///
    /// Of a pipe only what reading it shows is known.
    var breaksOff: Bool {
        if isCutShort { return true }
        if formatName == "ogg" { return (try? OggPages.breakOff(FileByteSource(file: self))) ?? false }
        guard let length, let end = statedEnd else { return false }
        return end > UInt64(clamping: length)
    }

    /// Where the file's media ends by its header; `nil` where it does not say.
    private var statedEnd: UInt64? {
        if formatName == "mp3" { return endByXingTag }
        let source = FileByteSource(file: self)
        if formatName.split(separator: ",").contains("mov") {
            return try? MovieHeader.statedEnd(of: source, limits: BoxLimits(limits))
        }
        if formatName.hasPrefix("matroska") { return try? MatroskaHeader.statedEnd(of: source) }
        return try? SoundFileChunks(formatName: formatName)?.statedEnd(of: source)
    }

    /// Where an MP3's sound ends by the tag in its first frame; `nil` without one.
    private var endByXingTag: UInt64? {
        let tag = XingTag { position, count in (try? bytes(at: position, count: count)) ?? [] }
        return tag?.statedEnd(inFileOf: UInt64(clamping: length ?? 0))
    }
}
