internal import JSONText
package import MediaBase

/// An output of `ingest`, as the manifest lists it.
package struct IngestOutput: Encodable, Sendable, Hashable {
    /// The kind, such as `poster`, `sprite` or `proxy`.
    package var kind: String
    /// The name in the folder.
    package var file: String
    /// The size in bytes.
    package var sizeBytes: Int
    /// The SHA-256 of the file in hexadecimal digits.
    package var sha256: String
    /// The time of the input at which the output begins; `nil` for an output without times.
    package var start: MediaTime?
    /// The duration of what the output shows; `nil` for an output without times.
    package var duration: MediaTime?
    /// The times of the images in it.
    package var images: [Image]?

    /// The time of an image.
    package struct Image: Encodable, Sendable, Hashable {
        /// The time that was asked for.
        package var requested: MediaTime
        /// The presentation time of the frame.
        package var actual: MediaTime
    }
}

/// The result of one part of a recipe.
package struct IngestRecord: Encodable, Sendable {
    /// The part's name.
    package var part: String
    /// The outputs; empty if there are none.
    package var outputs: [IngestOutput] = []
    /// The verdict of the policy.
    package var verdict: String?
    /// The warnings, without those of other parts.
    package var warnings: [String] = []
}

// MARK: - Reading

extension IngestRecord {
    /// Reads a record from JSON; `nil` if it is not one.
    init?(_ value: JSONValue) {
        guard let part = value["part"]?.string, let outputs = value["outputs"]?.elements,
            let warnings = value["warnings"]?.elements
        else { return nil }
        self.part = part
        self.outputs = outputs.compactMap(IngestOutput.init)
        self.warnings = warnings.compactMap(\.string)
        verdict = value["verdict"]?.string
        guard self.outputs.count == outputs.count else { return nil }
    }
}

extension IngestOutput {
    /// Reads an output from JSON; `nil` if it is not one.
    fileprivate init?(_ value: JSONValue) {
        guard let kind = value["kind"]?.string, let file = value["file"]?.string,
            let size = value["sizeBytes"]?.integer, let hash = value["sha256"]?.string
        else { return nil }
        (self.kind, self.file, sizeBytes, sha256) = (kind, file, size, hash)
        start = value["start"]?.time
        duration = value["duration"]?.time
        images = value["images"]?.elements?.compactMap { image in
            guard let requested = image["requested"]?.time, let actual = image["actual"]?.time else { return nil }
            return Image(requested: requested, actual: actual)
        }
    }
}

extension JSONValue {
    /// Returns the member of an object.
    subscript(_ name: String) -> JSONValue? {
        if case .object(let object) = self { object.value(for: name) } else { nil }
    }

    /// The elements of an array; `nil` for other values.
    var elements: [JSONValue]? { if case .array(let array) = self { array.elements } else { nil } }

    /// The text of a string; `nil` for other values.
    var string: String? { if case .string(let text) = self { text } else { nil } }

    /// A whole number; `nil` for other values.
    var integer: Int? { if case .number(let text) = self { Int(text) } else { nil } }

    /// A number; `nil` for other values.
    var number: Double? { if case .number(let text) = self { Double(text) } else { nil } }

    /// A time as this program writes it; `nil` for other values.
    var time: MediaTime? {
        guard let value = self["value"]?.integer, let scale = self["timescale"]?.integer, scale > 0,
            let timescale = Int32(exactly: scale)
        else { return nil }
        return MediaTime(value: Int64(value), timescale: timescale)
    }
}
