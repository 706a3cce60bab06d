// MARK: - Common: the same in every key space

extension MetadataIdentifier {
    /// The title.
    public static let commonIdentifierTitle = Self(.common, "title")
    /// Who made the work; in music, the composer.
    public static let commonIdentifierCreator = Self(.common, "creator")
    /// The subject.
    public static let commonIdentifierSubject = Self(.common, "subject")
    /// A description of the content.
    public static let commonIdentifierDescription = Self(.common, "description")
    /// The publisher.
    public static let commonIdentifierPublisher = Self(.common, "publisher")
    /// Others who took part.
    public static let commonIdentifierContributor = Self(.common, "contributor")
    /// The date of recording or release.
    public static let commonIdentifierCreationDate = Self(.common, "creationDate")
    /// The date of the last change.
    public static let commonIdentifierLastModifiedDate = Self(.common, "lastModifiedDate")
    /// The genre.
    public static let commonIdentifierType = Self(.common, "type")
    /// The format.
    public static let commonIdentifierFormat = Self(.common, "format")
    /// A number or name that identifies the work.
    public static let commonIdentifierAssetIdentifier = Self(.common, "identifier")
    /// The work from which this one is derived.
    public static let commonIdentifierSource = Self(.common, "source")
    /// The language of the content.
    public static let commonIdentifierLanguage = Self(.common, "language")
    /// A related work.
    public static let commonIdentifierRelation = Self(.common, "relation")
    /// The place of recording, in ISO 6709 format.
    public static let commonIdentifierLocation = Self(.common, "location")
    /// The copyright notice.
    public static let commonIdentifierCopyrights = Self(.common, "copyrights")
    /// The name of the album.
    public static let commonIdentifierAlbumName = Self(.common, "albumName")
    /// The author.
    public static let commonIdentifierAuthor = Self(.common, "author")
    /// The artist.
    public static let commonIdentifierArtist = Self(.common, "artist")
    /// A cover picture.
    public static let commonIdentifierArtwork = Self(.common, "artwork")
    /// The maker of the camera or recorder.
    public static let commonIdentifierMake = Self(.common, "make")
    /// The model of the camera or recorder.
    public static let commonIdentifierModel = Self(.common, "model")
    /// The program that made the file.
    public static let commonIdentifierSoftware = Self(.common, "software")
}

// MARK: - The iTunes list (ilst) of MPEG-4 files

extension MetadataIdentifier {
    /// The title (`©nam`).
    public static let iTunesMetadataSongName = Self(.iTunes, "©nam")
    /// The artist (`©ART`).
    public static let iTunesMetadataArtist = Self(.iTunes, "©ART")
    /// The artist of the album as a whole (`aART`).
    public static let iTunesMetadataAlbumArtist = Self(.iTunes, "aART")
    /// The album (`©alb`).
    public static let iTunesMetadataAlbum = Self(.iTunes, "©alb")
    /// The composer (`©wrt`).
    public static let iTunesMetadataComposer = Self(.iTunes, "©wrt")
    /// The date of release (`©day`).
    public static let iTunesMetadataReleaseDate = Self(.iTunes, "©day")
    /// A comment (`©cmt`).
    public static let iTunesMetadataUserComment = Self(.iTunes, "©cmt")
    /// The genre in words (`©gen`).
    public static let iTunesMetadataUserGenre = Self(.iTunes, "©gen")
    /// The genre by ID3's number and 1 (`gnre`).
    public static let iTunesMetadataPredefinedGenre = Self(.iTunes, "gnre")
    /// The program that encoded the file (`©too`).
    public static let iTunesMetadataEncodingTool = Self(.iTunes, "©too")
    /// Who encoded the file (`©enc`).
    public static let iTunesMetadataEncodedBy = Self(.iTunes, "©enc")
    /// The copyright notice (`cprt`).
    public static let iTunesMetadataCopyright = Self(.iTunes, "cprt")
    /// A short description (`desc`).
    public static let iTunesMetadataDescription = Self(.iTunes, "desc")
    /// A long description (`ldes`).
    public static let iTunesMetadataLongDescription = Self(.iTunes, "ldes")
    /// The group of works (`©grp`).
    public static let iTunesMetadataGrouping = Self(.iTunes, "©grp")
    /// The lyrics (`©lyr`).
    public static let iTunesMetadataLyrics = Self(.iTunes, "©lyr")
    /// The number of the track and their total (`trkn`).
    public static let iTunesMetadataTrackNumber = Self(.iTunes, "trkn")
    /// The number of the disc and their total (`disk`).
    public static let iTunesMetadataDiscNumber = Self(.iTunes, "disk")
    /// 1 for a track of a compilation (`cpil`).
    public static let iTunesMetadataDiscCompilation = Self(.iTunes, "cpil")
    /// The beats per minute (`tmpo`).
    public static let iTunesMetadataBeatsPerMin = Self(.iTunes, "tmpo")
    /// 1 to play without a gap (`pgap`).
    public static let iTunesMetadataGaplessPlayback = Self(.iTunes, "pgap")
    /// The advisory: 1 or 4 explicit, 2 clean (`rtng`).
    public static let iTunesMetadataContentRating = Self(.iTunes, "rtng")
    /// The kind of media by iTunes's number (`stik`).
    public static let iTunesMetadataMediaType = Self(.iTunes, "stik")
    /// A cover picture (`covr`).
    public static let iTunesMetadataCoverArt = Self(.iTunes, "covr")
    /// The name of the series (`tvsh`).
    public static let iTunesMetadataTVShow = Self(.iTunes, "tvsh")
    /// The identifier of the episode (`tven`).
    public static let iTunesMetadataTVEpisodeID = Self(.iTunes, "tven")
    /// The number of the season (`tvsn`).
    public static let iTunesMetadataTVSeason = Self(.iTunes, "tvsn")
    /// The number of the episode (`tves`).
    public static let iTunesMetadataTVEpisode = Self(.iTunes, "tves")
    /// The network of the series (`tvnn`).
    public static let iTunesMetadataTVNetwork = Self(.iTunes, "tvnn")
    /// The keywords of a podcast (`keyw`).
    public static let iTunesMetadataKeywords = Self(.iTunes, "keyw")
    /// The title in the form to sort by (`sonm`).
    public static let iTunesMetadataSortName = Self(.iTunes, "sonm")
    /// The artist in the form to sort by (`soar`).
    public static let iTunesMetadataSortArtist = Self(.iTunes, "soar")
    /// The album in the form to sort by (`soal`).
    public static let iTunesMetadataSortAlbum = Self(.iTunes, "soal")
}

// MARK: - QuickTime's user data (udta)

extension MetadataIdentifier {
    /// The title (`©nam`).
    public static let quickTimeUserDataFullName = Self(.quickTimeUserData, "©nam")
    /// The artist (`©ART`).
    public static let quickTimeUserDataArtist = Self(.quickTimeUserData, "©ART")
    /// The album (`©alb`).
    public static let quickTimeUserDataAlbum = Self(.quickTimeUserData, "©alb")
    /// The author (`©aut`).
    public static let quickTimeUserDataAuthor = Self(.quickTimeUserData, "©aut")
    /// A comment (`©cmt`).
    public static let quickTimeUserDataComment = Self(.quickTimeUserData, "©cmt")
    /// The composer (`©com`).
    public static let quickTimeUserDataComposer = Self(.quickTimeUserData, "©com")
    /// The copyright notice (`©cpy`).
    public static let quickTimeUserDataCopyright = Self(.quickTimeUserData, "©cpy")
    /// The date of creation (`©day`).
    public static let quickTimeUserDataCreationDate = Self(.quickTimeUserData, "©day")
    /// A description (`©des`).
    public static let quickTimeUserDataDescription = Self(.quickTimeUserData, "©des")
    /// The director (`©dir`).
    public static let quickTimeUserDataDirector = Self(.quickTimeUserData, "©dir")
    /// Who encoded the file (`©enc`).
    public static let quickTimeUserDataEncodedBy = Self(.quickTimeUserData, "©enc")
    /// The genre (`©gen`).
    public static let quickTimeUserDataGenre = Self(.quickTimeUserData, "©gen")
    /// Information (`©inf`).
    public static let quickTimeUserDataInformation = Self(.quickTimeUserData, "©inf")
    /// Keywords (`©key`).
    public static let quickTimeUserDataKeywords = Self(.quickTimeUserData, "©key")
    /// The place of recording, in ISO 6709 format (`©xyz`).
    public static let quickTimeUserDataLocationISO6709 = Self(.quickTimeUserData, "©xyz")
    /// The maker of the camera (`©mak`).
    public static let quickTimeUserDataMake = Self(.quickTimeUserData, "©mak")
    /// The model of the camera (`©mod`).
    public static let quickTimeUserDataModel = Self(.quickTimeUserData, "©mod")
    /// The producer (`©prd`).
    public static let quickTimeUserDataProducer = Self(.quickTimeUserData, "©prd")
    /// The publisher (`©pub`).
    public static let quickTimeUserDataPublisher = Self(.quickTimeUserData, "©pub")
    /// The program that made the file (`©swr`).
    public static let quickTimeUserDataSoftware = Self(.quickTimeUserData, "©swr")
}

// MARK: - QuickTime's named keys (mdta)

extension MetadataIdentifier {
    /// The title (`com.apple.quicktime.title`).
    public static let quickTimeMetadataTitle = Self(.quickTimeMetadata, "com.apple.quicktime.title")
    /// The artist (`com.apple.quicktime.artist`).
    public static let quickTimeMetadataArtist = Self(.quickTimeMetadata, "com.apple.quicktime.artist")
    /// The album (`com.apple.quicktime.album`).
    public static let quickTimeMetadataAlbum = Self(.quickTimeMetadata, "com.apple.quicktime.album")
    /// The author (`com.apple.quicktime.author`).
    public static let quickTimeMetadataAuthor = Self(.quickTimeMetadata, "com.apple.quicktime.author")
    /// A cover picture (`com.apple.quicktime.artwork`).
    public static let quickTimeMetadataArtwork = Self(.quickTimeMetadata, "com.apple.quicktime.artwork")
    /// The number of the camera (`com.apple.quicktime.camera.identifier`).
    public static let quickTimeMetadataCameraIdentifier = Self(
        .quickTimeMetadata, "com.apple.quicktime.camera.identifier")
    /// A comment (`com.apple.quicktime.comment`).
    public static let quickTimeMetadataComment = Self(.quickTimeMetadata, "com.apple.quicktime.comment")
    /// The identifier that joins a film to its still picture (`com.apple.quicktime.content.identifier`).
    public static let quickTimeMetadataContentIdentifier = Self(
        .quickTimeMetadata, "com.apple.quicktime.content.identifier")
    /// The copyright notice (`com.apple.quicktime.copyright`).
    public static let quickTimeMetadataCopyright = Self(.quickTimeMetadata, "com.apple.quicktime.copyright")
    /// The date and time of recording, with time zone (`com.apple.quicktime.creationdate`).
    public static let quickTimeMetadataCreationDate = Self(.quickTimeMetadata, "com.apple.quicktime.creationdate")
    /// The credits (`com.apple.quicktime.credits`).
    public static let quickTimeMetadataCredits = Self(.quickTimeMetadata, "com.apple.quicktime.credits")
    /// A description (`com.apple.quicktime.description`).
    public static let quickTimeMetadataDescription = Self(.quickTimeMetadata, "com.apple.quicktime.description")
    /// The director (`com.apple.quicktime.director`).
    public static let quickTimeMetadataDirector = Self(.quickTimeMetadata, "com.apple.quicktime.director")
    /// The name to display (`com.apple.quicktime.displayname`).
    public static let quickTimeMetadataDisplayName = Self(.quickTimeMetadata, "com.apple.quicktime.displayname")
    /// The genre (`com.apple.quicktime.genre`).
    public static let quickTimeMetadataGenre = Self(.quickTimeMetadata, "com.apple.quicktime.genre")
    /// Information (`com.apple.quicktime.information`).
    public static let quickTimeMetadataInformation = Self(.quickTimeMetadata, "com.apple.quicktime.information")
    /// Keywords (`com.apple.quicktime.keywords`).
    public static let quickTimeMetadataKeywords = Self(.quickTimeMetadata, "com.apple.quicktime.keywords")
    /// The place of recording, in ISO 6709 format (`com.apple.quicktime.location.ISO6709`).
    public static let quickTimeMetadataLocationISO6709 = Self(
        .quickTimeMetadata, "com.apple.quicktime.location.ISO6709")
    /// The name of the place (`com.apple.quicktime.location.name`).
    public static let quickTimeMetadataLocationName = Self(.quickTimeMetadata, "com.apple.quicktime.location.name")
    /// The date at the place (`com.apple.quicktime.location.date`).
    public static let quickTimeMetadataLocationDate = Self(.quickTimeMetadata, "com.apple.quicktime.location.date")
    /// The maker of the camera (`com.apple.quicktime.make`).
    public static let quickTimeMetadataMake = Self(.quickTimeMetadata, "com.apple.quicktime.make")
    /// The model of the camera (`com.apple.quicktime.model`).
    public static let quickTimeMetadataModel = Self(.quickTimeMetadata, "com.apple.quicktime.model")
    /// The original artist (`com.apple.quicktime.originalartist`).
    public static let quickTimeMetadataOriginalArtist = Self(.quickTimeMetadata, "com.apple.quicktime.originalartist")
    /// The performers (`com.apple.quicktime.performer`).
    public static let quickTimeMetadataPerformer = Self(.quickTimeMetadata, "com.apple.quicktime.performer")
    /// The producer (`com.apple.quicktime.producer`).
    public static let quickTimeMetadataProducer = Self(.quickTimeMetadata, "com.apple.quicktime.producer")
    /// The publisher (`com.apple.quicktime.publisher`).
    public static let quickTimeMetadataPublisher = Self(.quickTimeMetadata, "com.apple.quicktime.publisher")
    /// The user's rating, from 0 to 5 (`com.apple.quicktime.rating.user`).
    public static let quickTimeMetadataRatingUser = Self(.quickTimeMetadata, "com.apple.quicktime.rating.user")
    /// The program that made the file (`com.apple.quicktime.software`).
    public static let quickTimeMetadataSoftware = Self(.quickTimeMetadata, "com.apple.quicktime.software")
    /// The year (`com.apple.quicktime.year`).
    public static let quickTimeMetadataYear = Self(.quickTimeMetadata, "com.apple.quicktime.year")
}

// MARK: - User data of 3GPP and MPEG-4 files (3GPP TS 26.244, 8; ISO/IEC 14496-12, 8.10.2)

extension MetadataIdentifier {
    /// The title (`titl`).
    public static let identifier3GPUserDataTitle = Self(.isoUserData, "titl")
    /// The author (`auth`).
    public static let identifier3GPUserDataAuthor = Self(.isoUserData, "auth")
    /// The performer (`perf`).
    public static let identifier3GPUserDataPerformer = Self(.isoUserData, "perf")
    /// A description (`dscp`).
    public static let identifier3GPUserDataDescription = Self(.isoUserData, "dscp")
    /// The genre (`gnre`).
    public static let identifier3GPUserDataGenre = Self(.isoUserData, "gnre")
    /// The album (`albm`).
    public static let identifier3GPUserDataAlbumAndTrack = Self(.isoUserData, "albm")
    /// The year of recording (`yrrc`).
    public static let identifier3GPUserDataRecordingYear = Self(.isoUserData, "yrrc")
    /// The place (`loci`).
    public static let identifier3GPUserDataLocation = Self(.isoUserData, "loci")
    /// The copyright notice (`cprt`).
    public static let isoUserDataCopyright = Self(.isoUserData, "cprt")
}
