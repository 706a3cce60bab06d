import CFFmpeg

/// The entries of a dictionary that libav owns, in their order; bytes that are not UTF-8 are repaired.
func entries(of dictionary: OpaquePointer?) -> [(key: String, value: String)] {
    var result: [(key: String, value: String)] = []
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while true {
        entry = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX)
        guard let entry, result.count < Limits.metadataItems else { return result }
        result.append((String(cString: entry.pointee.key), String(cString: entry.pointee.value)))
    }
}
