import CFFmpeg
import MediaBase

/// Owner of an `AVDictionary` of options for a libav call, which takes out of it what it knows.
struct OptionDictionary: ~Copyable {
    private var dictionary: OpaquePointer?

    /// A dictionary of names and values; of two with the same name the last counts.
    init(_ options: [(key: String, value: String)]) throws(MediaError) {
        for option in options { try set(option.key, option.value) }
    }

    deinit {
        var dictionary = dictionary
        av_dict_free(&dictionary)
    }

    /// Adds an option, or replaces the one of that name.
    mutating func set(_ key: String, _ value: String) throws(MediaError) {
        try AVStatus.check(av_dict_set(&dictionary, key, value, 0), "av_dict_set", doing: "set the option \(key)")
    }

    /// Lends the dictionary to a call that removes the options it has used.
    mutating func withPointer<Result>(_ body: (UnsafeMutablePointer<OpaquePointer?>) -> Result) -> Result {
        body(&dictionary)
    }

    /// Gives the dictionary away, to a libav structure that frees it.
    consuming func release() -> OpaquePointer? {
        let released = dictionary
        dictionary = nil
        return released
    }

    /// Throws where an option was not used: one that is misspelt must not pass for one that works.
    borrowing func refuseUnused(by user: String) throws(MediaError) {
        guard let name = entries(of: dictionary).first?.key else { return }
        throw MediaError(.invalidArgument, "\(user) has no option \(name)")
    }
}
