import SystemCalls
import SystemPackage

extension FilePath {
    /// The path that an argument of ``RawArguments`` stands for, byte for byte.
    init(argument: String) {
        self.init(bytes: RawArguments.bytes(of: argument))
    }

    /// The path for a person to read: what is no UTF-8 is repaired with U+FFFD.
    var displayPath: String { string }
}
