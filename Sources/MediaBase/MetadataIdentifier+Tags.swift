// MARK: - ID3v2.3 and 2.4 frames

extension MetadataIdentifier {
    /// The title (`TIT2`).
    public static let id3MetadataTitleDescription = Self(.id3, "TIT2")
    /// The subtitle (`TIT3`).
    public static let id3MetadataSubTitle = Self(.id3, "TIT3")
    /// The group of works (`TIT1`).
    public static let id3MetadataContentGroupDescription = Self(.id3, "TIT1")
    /// The artist (`TPE1`).
    public static let id3MetadataLeadPerformer = Self(.id3, "TPE1")
    /// The band, or the artist of the album (`TPE2`).
    public static let id3MetadataBand = Self(.id3, "TPE2")
    /// The conductor (`TPE3`).
    public static let id3MetadataConductor = Self(.id3, "TPE3")
    /// The person who remixed or modified the work (`TPE4`).
    public static let id3MetadataModifiedBy = Self(.id3, "TPE4")
    /// The album (`TALB`).
    public static let id3MetadataAlbumTitle = Self(.id3, "TALB")
    /// The composer (`TCOM`).
    public static let id3MetadataComposer = Self(.id3, "TCOM")
    /// Who wrote the words (`TEXT`).
    public static let id3MetadataLyricist = Self(.id3, "TEXT")
    /// The genre (`TCON`).
    public static let id3MetadataContentType = Self(.id3, "TCON")
    /// The number of the track, and of all (`TRCK`).
    public static let id3MetadataTrackNumber = Self(.id3, "TRCK")
    /// The number of the disc, and of all (`TPOS`).
    public static let id3MetadataPartOfASet = Self(.id3, "TPOS")
    /// The time of recording (`TDRC`).
    public static let id3MetadataRecordingTime = Self(.id3, "TDRC")
    /// The time of release (`TDRL`).
    public static let id3MetadataReleaseTime = Self(.id3, "TDRL")
    /// The year of recording, before ID3v2.4 (`TYER`).
    public static let id3MetadataYear = Self(.id3, "TYER")
    /// A comment, in a language, with a description (`COMM`).
    public static let id3MetadataComments = Self(.id3, "COMM")
    /// The lyrics, in a language (`USLT`).
    public static let id3MetadataUnsynchronizedLyric = Self(.id3, "USLT")
    /// The copyright notice (`TCOP`).
    public static let id3MetadataCopyright = Self(.id3, "TCOP")
    /// The publisher (`TPUB`).
    public static let id3MetadataPublisher = Self(.id3, "TPUB")
    /// Who encoded the file (`TENC`).
    public static let id3MetadataEncodedBy = Self(.id3, "TENC")
    /// The program that encoded the file (`TSSE`).
    public static let id3MetadataEncodedWith = Self(.id3, "TSSE")
    /// The beats per minute (`TBPM`).
    public static let id3MetadataBeatsPerMinute = Self(.id3, "TBPM")
    /// The ISRC (`TSRC`).
    public static let id3MetadataInternationalStandardRecordingCode = Self(.id3, "TSRC")
    /// The language of the words (`TLAN`).
    public static let id3MetadataLanguage = Self(.id3, "TLAN")
    /// A picture, with its kind and a description (`APIC`).
    public static let id3MetadataAttachedPicture = Self(.id3, "APIC")
    /// A text under a name of the user's own (`TXXX`).
    public static let id3MetadataUserText = Self(.id3, "TXXX")
    /// An address under a name of the user's own (`WXXX`).
    public static let id3MetadataUserURL = Self(.id3, "WXXX")
    /// Bytes for one program (`PRIV`).
    public static let id3MetadataPrivate = Self(.id3, "PRIV")
    /// An identifier in somebody's database (`UFID`).
    public static let id3MetadataUniqueFileIdentifier = Self(.id3, "UFID")
    /// A rating (`POPM`).
    public static let id3MetadataPopularimeter = Self(.id3, "POPM")
}

// MARK: - Matroska's tags (RFC 9559, 5.1.8; Matroska Tags)

extension MetadataIdentifier {
    /// The title (`TITLE`).
    public static let matroskaTitle = Self(.matroska, "TITLE")
    /// The artist (`ARTIST`).
    public static let matroskaArtist = Self(.matroska, "ARTIST")
    /// The album, as ffmpeg writes it (`ALBUM`).
    public static let matroskaAlbum = Self(.matroska, "ALBUM")
    /// The composer (`COMPOSER`).
    public static let matroskaComposer = Self(.matroska, "COMPOSER")
    /// A comment (`COMMENT`).
    public static let matroskaComment = Self(.matroska, "COMMENT")
    /// A description (`DESCRIPTION`).
    public static let matroskaDescription = Self(.matroska, "DESCRIPTION")
    /// The genre (`GENRE`).
    public static let matroskaGenre = Self(.matroska, "GENRE")
    /// The number of the part (`PART_NUMBER`).
    public static let matroskaPartNumber = Self(.matroska, "PART_NUMBER")
    /// The date of release (`DATE_RELEASED`).
    public static let matroskaDateReleased = Self(.matroska, "DATE_RELEASED")
    /// The date of recording (`DATE_RECORDED`).
    public static let matroskaDateRecorded = Self(.matroska, "DATE_RECORDED")
    /// The copyright notice (`COPYRIGHT`).
    public static let matroskaCopyright = Self(.matroska, "COPYRIGHT")
    /// The publisher (`PUBLISHER`).
    public static let matroskaPublisher = Self(.matroska, "PUBLISHER")
    /// The program that encoded the file (`ENCODER`).
    public static let matroskaEncoder = Self(.matroska, "ENCODER")
    /// The director (`DIRECTOR`).
    public static let matroskaDirector = Self(.matroska, "DIRECTOR")
    /// The place of recording (`RECORDING_LOCATION`).
    public static let matroskaRecordingLocation = Self(.matroska, "RECORDING_LOCATION")
    /// A picture among the attachments.
    public static let matroskaAttachment = Self(.matroska, "attached picture")
}

// MARK: - Vorbis comments: FLAC, Ogg Vorbis, Opus

extension MetadataIdentifier {
    /// The title (`TITLE`).
    public static let vorbisTitle = Self(.vorbis, "TITLE")
    /// The artist (`ARTIST`).
    public static let vorbisArtist = Self(.vorbis, "ARTIST")
    /// The album (`ALBUM`).
    public static let vorbisAlbum = Self(.vorbis, "ALBUM")
    /// The artist of the album (`ALBUMARTIST`).
    public static let vorbisAlbumArtist = Self(.vorbis, "ALBUMARTIST")
    /// The composer (`COMPOSER`).
    public static let vorbisComposer = Self(.vorbis, "COMPOSER")
    /// The date (`DATE`).
    public static let vorbisDate = Self(.vorbis, "DATE")
    /// The genre (`GENRE`).
    public static let vorbisGenre = Self(.vorbis, "GENRE")
    /// The number of the track (`TRACKNUMBER`).
    public static let vorbisTrackNumber = Self(.vorbis, "TRACKNUMBER")
    /// The number of the disc (`DISCNUMBER`).
    public static let vorbisDiscNumber = Self(.vorbis, "DISCNUMBER")
    /// A description (`DESCRIPTION`).
    public static let vorbisDescription = Self(.vorbis, "DESCRIPTION")
    /// A comment (`COMMENT`).
    public static let vorbisComment = Self(.vorbis, "COMMENT")
    /// The copyright notice (`COPYRIGHT`).
    public static let vorbisCopyright = Self(.vorbis, "COPYRIGHT")
    /// The licence (`LICENSE`).
    public static let vorbisLicense = Self(.vorbis, "LICENSE")
    /// The publisher (`ORGANIZATION`).
    public static let vorbisOrganization = Self(.vorbis, "ORGANIZATION")
    /// The performers (`PERFORMER`).
    public static let vorbisPerformer = Self(.vorbis, "PERFORMER")
    /// The place of recording (`LOCATION`).
    public static let vorbisLocation = Self(.vorbis, "LOCATION")
    /// The ISRC (`ISRC`).
    public static let vorbisISRC = Self(.vorbis, "ISRC")
    /// A picture, with its kind and a description (`METADATA_BLOCK_PICTURE`).
    public static let vorbisPicture = Self(.vorbis, "METADATA_BLOCK_PICTURE")
}

// MARK: - RIFF's INFO list: WAVE, AVI

extension MetadataIdentifier {
    /// The title (`INAM`).
    public static let riffInfoTitle = Self(.riff, "INAM")
    /// The artist (`IART`).
    public static let riffInfoArtist = Self(.riff, "IART")
    /// The album (`IPRD`).
    public static let riffInfoProduct = Self(.riff, "IPRD")
    /// A comment (`ICMT`).
    public static let riffInfoComment = Self(.riff, "ICMT")
    /// The copyright notice (`ICOP`).
    public static let riffInfoCopyright = Self(.riff, "ICOP")
    /// The date (`ICRD`).
    public static let riffInfoCreationDate = Self(.riff, "ICRD")
    /// The genre (`IGNR`).
    public static let riffInfoGenre = Self(.riff, "IGNR")
    /// The number of the track (`IPRT`).
    public static let riffInfoTrackNumber = Self(.riff, "IPRT")
    /// The program that made the file (`ISFT`).
    public static let riffInfoSoftware = Self(.riff, "ISFT")
    /// The language (`ILNG`).
    public static let riffInfoLanguage = Self(.riff, "ILNG")
    /// Who encoded the file (`ITCH`).
    public static let riffInfoEncodedBy = Self(.riff, "ITCH")
}

// MARK: - Broadcast Wave's bext chunk (EBU Tech 3285)

extension MetadataIdentifier {
    /// The description of the sequence.
    public static let broadcastDescription = Self(.broadcastWave, "Description")
    /// Who made the file.
    public static let broadcastOriginator = Self(.broadcastWave, "Originator")
    /// The maker's reference.
    public static let broadcastOriginatorReference = Self(.broadcastWave, "OriginatorReference")
    /// The date of making: `2024-05-06`.
    public static let broadcastOriginationDate = Self(.broadcastWave, "OriginationDate")
    /// The time of making: `07:08:09`.
    public static let broadcastOriginationTime = Self(.broadcastWave, "OriginationTime")
    /// The samples from midnight to the first one.
    public static let broadcastTimeReference = Self(.broadcastWave, "TimeReference")
    /// The SMPTE identifier, in hexadecimal.
    public static let broadcastUMID = Self(.broadcastWave, "UMID")
    /// The steps of coding, a line each.
    public static let broadcastCodingHistory = Self(.broadcastWave, "CodingHistory")
}
