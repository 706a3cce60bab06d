import MediaBase
import MediaJobs
import SystemPackage

/// What is printed as JSON for one file: the result's members, or the error, after the version and the path.
struct FileResult<Value: Encodable>: Encodable {
    /// The version of the schemas of all results.
    static var schemaVersion: Int { 1 }

    let path: FilePath
    let result: Result<Value, MediaError>

    private enum Key: String, CodingKey {
        case schemaVersion, path, pathBytes, error
        case code, message, failedChecks
    }

    /// Encodes into one object: the value's own members follow `schemaVersion`, `path` and, where the path is not
    /// UTF-8, `pathBytes`.
    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(Self.schemaVersion, forKey: .schemaVersion)
        try object.encode(path.displayPath, forKey: .path)
        try object.encodeIfPresent(path.pathBytes, forKey: .pathBytes)
        switch result {
        case .success(let value): try value.encode(to: encoder)
        case .failure(let failure):
            var error = object.nestedContainer(keyedBy: Key.self, forKey: .error)
            try error.encode(failure.code.rawValue, forKey: .code)
            try error.encode(failure.message, forKey: .message)
            if !failure.failedChecks.isEmpty { try error.encode(failure.failedChecks, forKey: .failedChecks) }
        }
    }
}
