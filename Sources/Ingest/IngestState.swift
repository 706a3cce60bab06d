internal import AssetKit
internal import FileOutput
internal import JSONText
internal import MediaBase
internal import SystemCalls
internal import SystemPackage

/// The file that `ingest` reads, by what tells one version of it from another.
package struct IngestIdentity: Encodable, Sendable, Hashable {
    /// The name as it was given, without what is secret in an address.
    package var path: String
    /// The size in bytes; `nil` if it is not known.
    package var sizeBytes: Int64?
    /// The time of the last change, in UTC, with nanoseconds; `nil` for what is no local file.
    package var modified: String?
    /// The entity tag that the server sent; `nil` for what has none.
    package var entityTag: String?

    /// Creates an identity.
    package init(path: String, sizeBytes: Int64?, modified: String?) {
        (self.path, self.sizeBytes, self.modified) = (path, sizeBytes, modified)
    }

    /// True if another version of the file, even of the same size, has another identity.
    var isTellable: Bool { modified != nil || entityTag != nil }
}

/// The parts of a folder that are made, and what they were made of: `.state.json`.
///
/// A part counts as made if its key is the same, which stands for the program's version, the options of the part and those of
/// the parts that it depends on, and if its files are there with their sizes. A part of another input never counts.
struct IngestState: Encodable, Sendable {
    /// The name of the file in the folder.
    static let fileName = FilePath.Component(".state.json")

    /// The version of the file's form.
    private let schemaVersion = 1
    /// The file that was read.
    let input: IngestIdentity
    /// The parts that are made, in the order in which they were completed.
    private(set) var parts: [Made] = []
    /// The counters of the read that made them.
    var counters: IngestCounters?
    /// The seconds that this read took.
    var readingSeconds: Double?
    /// The SHA-256 of the input, if it was asked for.
    var sha256: String?
    /// True if the manifest is written, and describes these parts.
    var isFinished = false

    /// A part that is made.
    struct Made: Encodable, Sendable {
        /// The key.
        let key: String
        /// The outputs.
        let record: IngestRecord
    }

    /// Creates the state of an empty folder.
    init(_ input: IngestIdentity) { self.input = input }

    /// Reads the state in a folder; that of an empty one if there is none of this input, or if that cannot be told.
    init(_ input: IngestIdentity, in folder: FilePath) {
        self.init(input)
        guard input.isTellable, let bytes = try? Self.bytes(of: folder.appending(Self.fileName)),
            let state = try? JSONReader.parse(bytes), state["schemaVersion"]?.integer == schemaVersion,
            let known = state["input"], known["path"]?.string == input.path,
            known["sizeBytes"]?.integer == input.sizeBytes.map(Int.init), known["modified"]?.string == input.modified,
            known["entityTag"]?.string == input.entityTag
        else { return }
        for part in state["parts"]?.elements ?? [] {
            guard let key = part["key"]?.string, let record = part["record"].flatMap(IngestRecord.init) else {
                continue
            }
            parts.append(Made(key: key, record: record))
        }
        counters = state["counters"].flatMap(IngestCounters.init)
        readingSeconds = state["readingSeconds"]?.number.flatMap { (0..<1e9).contains($0) ? $0 : nil }
        sha256 = state["sha256"]?.string
    }

    /// Returns true if a folder has the file.
    static func exists(in folder: FilePath) -> Bool {
        guard let file = try? openForReading(folder.appending(fileName)) else { return false }
        try? file.close()
        return true
    }

    /// Returns the record of a part, if it is made and its files are there.
    func record(of part: IngestPart.Name, key: String, in folder: FilePath) -> IngestRecord? {
        guard let made = parts.first(where: { $0.record.part == part.rawValue && $0.key == key }) else { return nil }
        let isThere = made.record.outputs.allSatisfy { output in
            guard let file = try? openForReading(folder.appending(output.file)) else { return false }
            defer { try? file.close() }
            return (try? file.stat())?.size == Int64(output.sizeBytes)
        }
        return isThere ? made.record : nil
    }

    /// Notes a part as made, in place of what was known of it.
    mutating func note(_ record: IngestRecord, key: String) {
        parts.removeAll { $0.record.part == record.part }
        parts.append(Made(key: key, record: record))
    }

    /// The text of the file.
    var text: [UInt8] {
        get throws { try OrderedJSONEncoder(layout: .pretty).encode(self) + [UInt8(ascii: "\n")] }
    }

    /// Returns the contents of a file in the folder.
    static func bytes(of path: FilePath) throws(MediaError) -> [UInt8] {
        do throws(Errno) {
            let file = try openForReading(path)
            defer { try? file.close() }
            return try readAll(file)
        } catch {
            throw MediaError(error, "read", path: path)
        }
    }

    /// Returns the size and the SHA-256 of a file.
    static func digest(of path: FilePath) throws(MediaError) -> (size: Int, sha256: String) {
        var digest = try ContentDigest(.sha256)
        var size = 0
        do throws(Errno) {
            let file = try openForReading(path)
            defer { try? file.close() }
            while case let bytes = try read(from: file, at: Int64(size), atMost: 1 << 20), !bytes.isEmpty {
                digest.update(bytes)
                size += bytes.count
            }
        } catch {
            throw MediaError(error, "read", path: path)
        }
        return (size, digest.finish())
    }
}

/// The counters of one read of an input.
package struct IngestCounters: Encodable, Sendable, Hashable {
    /// The number of bytes that were read of the input.
    package var bytesRead: Int64 = 0
    /// The number of packets that were handed to decoders or copied, by the one read.
    package var packetsDelivered: Int64 = 0
    /// The number of packets that had to be handed to decoders once more.
    package var prerollPackets: Int64 = 0

    /// Reads the counters of an asset and of the jobs that have shared its reading.
    init(_ asset: Asset) {
        bytesRead = Int64(asset.bytesRead ?? 0)
        packetsDelivered = Int64(asset.packetsDelivered)
        prerollPackets = Int64(asset.prerollPackets)
    }

    init?(_ value: JSONValue) {
        guard let bytes = value["bytesRead"]?.integer, let packets = value["packetsDelivered"]?.integer,
            let preroll = value["prerollPackets"]?.integer
        else { return nil }
        (bytesRead, packetsDelivered, prerollPackets) = (Int64(bytes), Int64(packets), Int64(preroll))
    }
}
