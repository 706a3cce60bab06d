// Items selected from a list: the filters of `AVMetadataItem`.

extension Sequence<MetadataItem> {
    /// Returns the items with a key: `AVMetadataItem.metadataItems(from:filteredByIdentifier:)`.
    ///
    /// - Parameter identifier: The key; one of the key space ``MetadataKeySpace/common`` stands for those with the same
    ///   meaning in all vocabularies.
    public func items(withIdentifier identifier: MetadataIdentifier) -> [MetadataItem] {
        if identifier.keySpace == .common, let common = identifier.commonKey { return items(withCommonKey: common) }
        return filter { $0.identifier == identifier }
    }

    /// Returns the items whose keys have a common meaning, in any vocabulary.
    ///
    /// - Parameter key: The meaning.
    public func items(withCommonKey key: MetadataItem.CommonKey) -> [MetadataItem] { filter { $0.commonKey == key } }

    /// Returns the items of a vocabulary: `AVAsset.metadata(forFormat:)`, and with a key
    /// `AVMetadataItem.metadataItems(from:withKey:keySpace:)`.
    ///
    /// - Parameters:
    ///   - keySpace: The vocabulary.
    ///   - key: The key in it; `nil` for all.
    public func items(inKeySpace keySpace: MetadataKeySpace, key: String? = nil) -> [MetadataItem] {
        let wanted = key.map { MetadataIdentifier(keySpace: keySpace, key: $0) }
        return filter { $0.keySpace == keySpace && (wanted == nil || $0.identifier == wanted) }
    }

    /// Returns the items in a language: `AVMetadataItem.metadataItems(from:with:)` with a locale.
    ///
    /// - Parameter language: A tag of BCP 47 (`de`, `pt-BR`) or a code of ISO 639 (`deu`, `ger`). A region is compared only
    ///   if both state one.
    public func items(inLanguage language: String) -> [MetadataItem] {
        let wanted = LanguageTag(language)
        return filter { $0.language.map { LanguageTag($0).matches(wanted) } ?? false }
    }

    /// Returns the items in preferred languages, the most preferred first, as
    /// `AVMetadataItem.metadataItems(from:filteredAndSortedAccordingToPreferredLanguages:)`.
    ///
    /// - Parameter languages: Tags of BCP 47 or codes of ISO 639, the most preferred first.
    /// - Returns: The items in one of the languages, in the order of these and then of the list; items in no language
    ///   follow, and if none is in a preferred language all others, too.
    public func sorted(byPreferredLanguages languages: [String]) -> [MetadataItem] {
        let wanted = languages.map { LanguageTag($0) }
        var ranked: [[MetadataItem]] = Array(repeating: [], count: wanted.count)
        var neutral: [MetadataItem] = []
        var others: [MetadataItem] = []
        for item in self {
            let tag = item.language.map { LanguageTag($0) }
            guard let tag, tag.language != "und" else {
                neutral.append(item)
                continue
            }
            if let place = wanted.firstIndex(where: { tag.matches($0) }) {
                ranked[place].append(item)
            } else {
                others.append(item)
            }
        }
        let found = ranked.flatMap(\.self) + neutral
        return found.isEmpty ? others : found
    }
}

/// A language and perhaps a region, in one form for the codes of ISO 639-1, 639-2 and BCP 47.
struct LanguageTag: Hashable {
    /// The code of ISO 639-1 where there is one, else that of ISO 639-2/T.
    let language: String
    /// The region's two letters or three digits; `nil` if none is stated.
    let region: String?

    /// Reads a tag or code, in upper or lower case; `_` may stand for `-`.
    init(_ tag: String) {
        let parts = tag.lowercased().split { $0 == "-" || $0 == "_" }.map(String.init)
        let first = parts.first ?? "und"
        language = Self.short[first] ?? first
        region = parts.dropFirst().first { $0.utf8.count == 2 || ($0.utf8.count == 3 && Int($0) != nil) }
    }

    /// Returns true if the languages are the same, and the regions too where both are stated.
    func matches(_ other: Self) -> Bool {
        language == other.language && (region == nil || other.region == nil || region == other.region)
    }

    /// The codes of ISO 639-1 by those of ISO 639-2, in both of its forms.
    private static let short: [String: String] = {
        var codes: [String: String] = [:]
        for (short, long) in pairs { codes[long] = short }
        return codes
    }()

    /// The code of ISO 639-2/T for one of ISO 639-1; `nil` if it has none.
    fileprivate static func long(_ short: String) -> String? { pairs.first { $0.short == short }?.long }

    private static let pairs: [(short: String, long: String)] = {
        let words = """
            aa aar ab abk ae ave af afr ak aka am amh an arg ar ara as asm av ava ay aym az aze ba bak be bel bg bul bi bis \
            bm bam bn ben bo bod bo tib br bre bs bos ca cat ce che ch cha co cos cr cre cs ces cs cze cu chu cv chv cy cym \
            cy wel da dan de deu de ger dv div dz dzo ee ewe el ell el gre en eng eo epo es spa et est eu eus eu baq fa fas \
            fa per ff ful fi fin fj fij fo fao fr fra fr fre fy fry ga gle gd gla gl glg gn grn gu guj gv glv ha hau he heb \
            hi hin ho hmo hr hrv ht hat hu hun hy hye hy arm hz her ia ina id ind ie ile ig ibo ii iii ik ipk io ido is isl \
            is ice it ita iu iku ja jpn jv jav ka kat ka geo kg kon ki kik kj kua kk kaz kl kal km khm kn kan ko kor kr kau \
            ks kas ku kur kv kom kw cor ky kir la lat lb ltz lg lug li lim ln lin lo lao lt lit lu lub lv lav mg mlg mh mah \
            mi mri mi mao mk mkd mk mac ml mal mn mon mr mar ms msa ms may mt mlt my mya my bur na nau nb nob nd nde ne nep \
            ng ndo nl nld nl dut nn nno no nor nr nbl nv nav ny nya oc oci oj oji om orm or ori os oss pa pan pi pli pl pol \
            ps pus pt por qu que rm roh rn run ro ron ro rum ru rus rw kin sa san sc srd sd snd se sme sg sag si sin sk slk \
            sk slo sl slv sm smo sn sna so som sq sqi sq alb sr srp ss ssw st sot su sun sv swe sw swa ta tam te tel tg tgk \
            th tha ti tir tk tuk tl tgl tn tsn to ton tr tur ts tso tt tat tw twi ty tah ug uig uk ukr ur urd uz uzb ve ven \
            vi vie vo vol wa wln wo wol xh xho yi yid yo yor za zha zh zho zh chi zu zul
            """.split(separator: " ").map(String.init)
        return stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) }
    }()
}

/// A language as a code of three letters (ISO 639-2/T), which MP4, QuickTime and Matroska files store.
package struct LanguageCode: Hashable, Sendable {
    /// The three letters.
    package let text: String

    /// Finds the code for a tag of BCP 47 or a code of ISO 639; `nil` if it has none.
    package init?(_ tag: String) {
        let language = LanguageTag(tag).language
        let code = LanguageTag.long(language) ?? language
        guard code.utf8.count == 3, code.utf8.allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
        text = code
    }
}
