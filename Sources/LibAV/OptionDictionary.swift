import CFFmpeg

/// Owner of an `AVDictionary` that is handed to a libav call by reference; the call takes out what it understood.
struct OptionDictionary: ~Copyable {
    private(set) var pointer: OpaquePointer?

    init(_ options: [(key: String, value: String)] = []) {
        for option in options { av_dict_set(&pointer, option.key, option.value, 0) }
    }

    deinit {
        var pointer = pointer
        av_dict_free(&pointer)
    }

    /// Runs a call that reads and changes the dictionary.
    mutating func passed<Result>(to call: (inout OpaquePointer?) -> Result) -> Result {
        call(&pointer)
    }
}

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
