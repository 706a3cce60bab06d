import SystemCalls
import SystemPackage

extension FilePath {
    /// The path that an argument of ``RawArguments`` stands for, byte for byte.
    init(argument: String) {
        self.init(bytes: RawArguments.bytes(of: argument))
    }
}
