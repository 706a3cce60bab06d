import ContainerFacts
import ISOMedia
import LibAV
public import MediaBase

/// Converts metadata items to the forms that containers store.
enum MetadataWriting {
    /// The keys with fields in the headers of QuickTime and MPEG-4 tracks, by libavformat's names.
    static let headerKeys: Set<String> = ["handler_name", "reel_name"]

    /// Returns libavformat's keys and values for items that are text, numbers, dates or locations.
    ///
    /// Of several values of a key, the first one is written.
    ///
    /// - Parameters:
    ///   - whole: The items of the file, or of a track.
    ///   - track: The items of a track that are written beside those of the file, unless one of these has the same meaning.
    ///   - fileType: The type of the file.
    static func entries(
        _ whole: [MetadataItem], _ track: [MetadataItem] = [], in fileType: MediaFileType
    ) -> [(key: String, value: String)] {
        let items = joined(whole, track)
        var entries: [(key: String, value: String)] = []
        var names: Set<String> = []
        func add(_ name: String, _ text: String) {
            if names.insert(name.lowercased()).inserted { entries.append((name, text)) }
        }
        for item in items {
            guard let text = item.value.text else { continue }
            let name = name(of: item, in: fileType)
            // Muxers look up the key without a language first, then the key with a language for the same text.
            if fileType.isMatroska, let code = item.language.flatMap({ LanguageCode($0) }) {
                add("\(name)-\(code.text)", text)
            }
            if !fileType.isMatroska || item.language == nil
                || !items.contains(where: { $0.identifier == item.identifier && $0.language == nil })
            {
                add(name, text)
            }
        }
        return entries
    }

    /// Returns the name by which libavformat's muxer for a type of file takes an item.
    private static func name(of item: MetadataItem, in fileType: MediaFileType) -> String {
        if fileType.isMatroska {
            // The muxer puts the title, which has an element of its own, into the header.
            let converted = item.identifier.converted(to: .matroska)?.key ?? item.name
            return converted == "TITLE" ? "title" : converted
        }
        if fileType == .caf, let key = item.identifier.converted(to: .audioFile)?.key { return key }
        guard let common = item.identifier.writtenName else { return item.name }
        return common
    }

    /// Returns the box entries for items in a QuickTime or MPEG-4 file.
    ///
    /// An item goes where its key space says; in M4A files, which players know by the iTunes list alone, to that list if
    /// this has a key of the same meaning. Items of other formats become user data in QuickTime files, and otherwise
    /// items of the iTunes list. A value that its place cannot hold goes to one that accepts every type: QuickTime's named
    /// keys, or long keys beside the iTunes list.
    static func boxes(_ items: [MetadataItem], in fileType: MediaFileType) -> [MetadataEntry] {
        let own = Set(items.map(\.identifier))
        return items.compactMap { item in
            let language = item.language.flatMap { LanguageCode($0) }.flatMap { MediaLanguage(iso639: $0.text) }
            return places(of: item, in: fileType, besides: own).lazy
                .compactMap {
                    MetadataEntry.Key($0).map { MetadataEntry(key: $0, value: item.value, language: language) }
                }
                .first { $0.coded != nil }
        }
    }

    /// Returns the identifiers under which an item can be written, the best first.
    private static func places(
        of item: MetadataItem, in fileType: MediaFileType, besides own: Set<MetadataIdentifier>
    ) -> [MetadataIdentifier] {
        let identifier = item.identifier
        let named =
            identifier.converted(to: .quickTimeMetadata)
            ?? MetadataIdentifier(keySpace: .quickTimeMetadata, key: item.name)
        let long = MetadataIdentifier(keySpace: .iTunesLongKey, name: item.name)
        let free = fileType == .m4a ? long : named
        let inList = identifier.converted(to: .iTunes).flatMap { own.contains($0) && $0 != identifier ? nil : $0 }
        switch identifier.keySpace {
        case .iTunes, .iTunesLongKey:
            return [identifier, MetadataIdentifier(keySpace: .iTunesLongKey, name: item.name)]
        case .quickTimeMetadata, .quickTimeUserData, .isoUserData:
            return (fileType == .m4a ? [inList] : []).compactMap(\.self) + [identifier, named]
        default:
            guard fileType == .mov else { return [inList, free].compactMap(\.self) }
            return [identifier.converted(to: .quickTimeUserData), named].compactMap(\.self)
        }
    }

    /// Returns the pictures among items.
    static func covers(_ items: [MetadataItem]) -> [MuxerFile.Cover] {
        items.filter(\.isArtwork).compactMap { item in
            item.value.data.map { picture in
                MuxerFile.Cover(
                    picture: picture, kind: item.pictureType, info: item.extraAttributes[.info],
                    fileName: item.extraAttributes[.fileName])
            }
        }
    }

    /// Returns the comments of an Ogg stream or a FLAC file.
    ///
    /// - Parameters:
    ///   - whole: The items of the file; those that have no place in comments are left out.
    ///   - track: The items of the track; those with the meaning of one of the file are left out.
    ///   - fileType: Ogg or FLAC, whose pictures are blocks of their own.
    static func comments(
        _ whole: [MetadataItem], _ track: [MetadataItem], in fileType: MediaFileType
    ) -> VorbisComments.Written? {
        VorbisComments.Written(
            joined(whole, track).compactMap { VorbisComments.comment($0, holdsPictures: fileType == .ogg) })
    }

    /// Returns the items of a file, and of a track those with another meaning.
    private static func joined(_ whole: [MetadataItem], _ track: [MetadataItem]) -> [MetadataItem] {
        whole + track.filter { item in !whole.contains { $0.identifier.means(item.identifier) } }
    }
}

extension MetadataIdentifier {
    /// The name that libavformat's muxers take for keys of other formats; `nil` for keys without one.
    fileprivate var writtenName: String? {
        let spaces: [MetadataKeySpace] = [.riff, .id3, .iTunes, .quickTimeUserData]
        return keySpace == .id3 ? nil : spaces.lazy.compactMap { self.converted(to: $0)?.name }.first
    }
}

extension MetadataItem {
    /// Indicates whether the item is the location, for which user data has an atom.
    var isLocation: Bool { name.lowercased() == "location" || identifier == .commonIdentifierLocation }

    /// Indicates whether the item is a picture.
    var isArtwork: Bool {
        guard case .data = value else { return false }
        return commonKey == .artwork
    }
}

/// A metadata item that is missing from the written file, wholly or in part, because the file has no place for it.
public struct MetadataLeftOut: Sendable, Hashable {
    /// The part of an item that is lost.
    public enum Part: Sendable, Hashable {
        /// The item as a whole.
        case item
        /// Its language; the value is kept.
        case language
    }

    /// The item.
    public let item: MetadataItem
    /// The part of it that is lost.
    public let part: Part
    /// The index of the input whose track the item describes; `nil` for the file as a whole.
    public let inputIndex: Int?
    /// The type of the file.
    public let fileType: MediaFileType
}

extension MetadataLeftOut: CustomStringConvertible {
    /// A sentence that describes the loss to a user.
    public var description: String {
        let value: String
        if case .data(let bytes) = item.value {
            value = "\(bytes.count) bytes"
        } else {
            let text = item.value.text ?? ""
            value = text.count > 60 ? text.prefix(60) + "…" : text
        }
        let place = inputIndex.map { " of track \($0)" } ?? ""
        let name = "the metadata \(item.name)\(place) (\(value))"
        switch part {
        case .item: return "\(name) is lost: \(fileType) files have no place for it"
        case .language:
            return "\(name) loses its language \(item.language ?? ""): \(fileType) files have no place for it"
        }
    }

    /// Reads the finished file like any other, and returns what it lacks.
    ///
    /// - Parameters:
    ///   - whole: The items of the file as a whole.
    ///   - tracks: The place of each input's track in the file and its items; `nil` for an input without samples.
    ///   - asset: The finished file; `nil` if it cannot be read.
    ///   - fileType: Its type.
    static func find(
        _ whole: [MetadataItem], tracks: [(index: Int, items: [MetadataItem])?], in asset: Asset?,
        of fileType: MediaFileType
    ) -> [MetadataLeftOut] {
        guard !whole.isEmpty || tracks.contains(where: { $0?.items.isEmpty == false }),
            let made = try? asset?.contents()
        else { return [] }
        // Some files have a single list for the track and the whole file, and Ogg has one for each track.
        let isOne = fileType.isSoundAlone && made.tracks.count { !$0.isAttachedPicture } == 1 && !fileType.isISO
        let ofFile = made.metadata + (isOne || fileType == .ogg ? made.tracks.flatMap(\.metadata) : [])
        var leftOut = list(whole, in: ofFile, inputIndex: nil, fileType: fileType)
        for case (let place, let track?) in tracks.enumerated() where made.tracks.indices.contains(track.index) {
            let found = made.tracks[track.index].metadata + (isOne ? ofFile : [])
            leftOut += list(track.items, in: found, inputIndex: place, fileType: fileType)
        }
        return leftOut
    }

    /// Compares items with those of the finished file, and returns what this lacks.
    ///
    /// - Parameters:
    ///   - items: The items that were to be written.
    ///   - found: The items of the file.
    ///   - inputIndex: The index of the input whose track the items describe; `nil` for the file as a whole.
    ///   - fileType: The type of the file.
    static func list(
        _ items: [MetadataItem], in found: [MetadataItem], inputIndex: Int?, fileType: MediaFileType
    ) -> [MetadataLeftOut] {
        items.compactMap { item in
            let same = found.filter { item.isHeld(by: [$0]) }
            guard !same.isEmpty else {
                return MetadataLeftOut(item: item, part: .item, inputIndex: inputIndex, fileType: fileType)
            }
            guard let language = item.language, language != "und", same.items(inLanguage: language).isEmpty else {
                return nil
            }
            return MetadataLeftOut(item: item, part: .language, inputIndex: inputIndex, fileType: fileType)
        }
    }
}

extension MetadataItem {
    /// Returns true if one of the items has the same meaning and value, in the form that another container has for it.
    package func isHeld(by items: some Sequence<MetadataItem>) -> Bool {
        if case .data = value { return items.contains { $0.value == value } }
        // Header dates are compared by whole seconds, because their fractions are written in one notation only.
        let count = name.lowercased() == "creation_time" ? "2000-01-01T00:00:00".count : Int.max
        let text = value.text?.prefix(count)
        return items.contains {
            $0.value.text?.prefix(count) == text
                && ($0.identifier.means(identifier) || $0.name.lowercased() == name.lowercased())
        }
    }
}
