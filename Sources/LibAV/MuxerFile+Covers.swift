import CFFmpeg
package import MediaBase

// MARK: - Cover pictures

extension MuxerFile {
    /// A picture that belongs to the file as a whole.
    package struct Cover {
        /// The picture, as a file.
        package let picture: [UInt8]
        /// Its kind by ID3's number, such as 3 for the front cover.
        package let kind: Int
        /// Its description; `nil` for none.
        package let info: String?
        /// Its name as a file; `nil` for the usual one.
        package let fileName: String?

        /// Creates a picture from its parts.
        package init(picture: [UInt8], kind: Int, info: String?, fileName: String?) {
            self.picture = picture
            self.kind = kind
            self.info = info
            self.fileName = fileName
        }

        /// ID3's words for the kinds, as libavformat knows them.
        fileprivate static let kinds = [
            "Other", "32x32 pixels 'file icon'", "Other file icon", "Cover (front)", "Cover (back)", "Leaflet page",
            "Media (e.g. label side of CD)", "Lead artist/lead performer/soloist", "Artist/performer", "Conductor",
            "Band/Orchestra", "Composer", "Lyricist/text writer", "Recording Location", "During recording",
            "During performance", "Movie/video screen capture", "A bright coloured fish", "Illustration",
            "Band/artist logotype", "Publisher/Studio logotype",
        ]
    }

    /// Adds a cover picture: an attached file in Matroska, a block in FLAC, an ID3 frame in AIFF.
    ///
    /// - Parameter cover: The picture.
    /// - Returns: `false` if the container has no place for the picture; nothing is added then.
    package func addCover(_ cover: Cover) throws(MediaError) -> Bool {
        let picture = cover.picture
        guard let format = PictureFileFormat(picture) else { return false }
        let size = PictureFileFormat.dimensions(of: picture)
        switch String(cString: context.pointee.oformat.pointee.name) {
        case "matroska":
            let stream = try allocated(avformat_new_stream(context, nil))
            stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
            var names = [
                ("filename", cover.fileName ?? "cover.\(format.pathExtension)"), ("mimetype", format.mimeType),
            ]
            // The muxer's name for the description.
            if let info = cover.info { names.append(("title", info)) }
            stream.pointee.metadata = try OptionDictionary(names.map { (key: $0, value: $1) }).release()
            try CodecParameters.setExtradata(picture, of: stream.pointee.codecpar)
        case "flac", "aiff":
            guard let size, let width = Int32(exactly: size.width), let height = Int32(exactly: size.height),
                width > 0, height > 0, format != .bmp, picture.count < Self.largestBlock
            else { return false }
            let stream = try allocated(avformat_new_stream(context, nil))
            stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_VIDEO
            stream.pointee.codecpar.pointee.codec_id = format == .png ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG
            stream.pointee.codecpar.pointee.width = width
            stream.pointee.codecpar.pointee.height = height
            stream.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
            let kind = Cover.kinds.indices.contains(cover.kind) ? Cover.kinds[cover.kind] : Cover.kinds[3]
            var words = [(key: "comment", value: kind)]
            if let info = cover.info { words.append((key: "title", value: info)) }
            stream.pointee.metadata = try OptionDictionary(words).release()
            coverPackets.append((stream.pointee.index, picture))
        default: return false
        }
        return true
    }

    /// The maximum size of a cover in FLAC, whose blocks have 24-bit lengths that include the cover's names.
    private static let largestBlock = (1 << 24) - 1024
}
