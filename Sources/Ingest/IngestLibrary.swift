internal import FileOutput
internal import Inspection
internal import JSONText
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// The folders that `ingest` has filled below a folder, as their manifests tell.
package struct IngestLibrary: Sendable {
    /// One folder.
    package struct Item: Sendable {
        /// The path below the library's folder.
        package let folder: FilePath
        /// The file that was read, without its folders.
        package var name: String
        /// The state of the work.
        package var state: State
        /// The duration of the presentation; `nil` if it is not known.
        package var duration: MediaTime?
        /// The size of the file that was read; `nil` if it is not known.
        package var sizeBytes: Int?
        /// The verdict of the policy; `nil` without one.
        package var verdict: String?
        /// The outputs' names by their kinds.
        package var files: [String: String] = [:]
        /// The number of warnings.
        package var warnings = 0
        /// The parts that failed, and the errors; for a file that failed as a whole, the part is empty.
        package var failures: [(part: String, code: String, message: String)] = []
        /// The seconds that the work took.
        package var seconds: Double?
    }

    /// The states of a folder's work.
    package enum State: String, Sendable, CaseIterable {
        /// Everything was made.
        case complete
        /// Some parts failed.
        case incomplete
        /// The file could not be read, or its process ended.
        case failed
        /// The work has begun and not ended.
        case unfinished
    }

    /// The folders, in the order of their paths.
    package private(set) var items: [Item] = []

    /// The name of the file that stands in place of a manifest if the file failed as a whole.
    package static let errorName = FilePath.Component("error.json")

    /// The deepest folder that is looked into, and the most names in a folder.
    private static let (maximumDepth, maximumNames) = (16, 1_000_000)

    /// Reads the manifests below a folder.
    ///
    /// A folder that has one is not looked into. Links are not followed.
    /// - Throws: Errors of opening the folder.
    package init(_ root: FilePath) throws(MediaError) {
        do throws(Errno) {
            try look(into: FilePath(), of: try OpenFolder(root), depth: 0)
        } catch {
            throw MediaError(error, "read", path: root)
        }
        items.sort { $0.folder.string < $1.folder.string }
    }

    private mutating func look(into relative: FilePath, of root: OpenFolder, depth: Int) throws(Errno) {
        let entries = try root.contents(of: relative, atMost: Self.maximumNames)
        let names = Set(entries.filter { !$0.isFolder }.map(\.name))
        func has(_ name: FilePath.Component) -> Bool { names.contains(Array(name.string.utf8)) }
        func json(_ name: FilePath.Component) -> JSONValue? {
            guard has(name), let file = try? root.open(relative.appending(name)) else { return nil }
            defer { try? file.close() }
            return (try? readAll(file)).flatMap { try? JSONReader.parse($0) }
        }
        if !relative.isEmpty {
            if let error = json(Self.errorName) { return items.append(Item(relative, error: error)) }
            let state = json(IngestState.fileName)
            if let state, case .bool(false)? = state["isFinished"] {
                // A manifest that is there is an earlier run's.
                return items.append(Item(relative, unfinished: state))
            }
            if let manifest = json(IngestManifest.fileName) { return items.append(Item(relative, manifest: manifest)) }
            if let state { return items.append(Item(relative, unfinished: state)) }
        }
        guard depth < Self.maximumDepth else { return }
        for entry in entries where entry.isFolder {
            let component = FilePath(bytes: entry.name)
            try look(into: relative.appending(component.components), of: root, depth: depth + 1)
        }
    }
}

extension IngestLibrary.Item {
    private init(_ folder: FilePath, _ state: IngestLibrary.State, _ input: JSONValue?) {
        self.folder = folder
        self.state = state
        let path = input?["path"]?.string ?? folder.string
        name = FilePath(path).lastComponent?.string ?? path
        sizeBytes = input?["sizeBytes"]?.integer
    }

    fileprivate init(_ folder: FilePath, manifest: JSONValue) {
        self.init(folder, .complete, manifest["input"])
        duration = manifest["duration"]?.time
        verdict = manifest["verdict"]?.string
        seconds = manifest["timings"]?["total"]?.number
        warnings = manifest["warnings"]?.elements?.count ?? 0
        for output in manifest["outputs"]?.elements ?? [] {
            guard let kind = output["kind"]?.string, let file = output["file"]?.string else { continue }
            if files[kind] == nil { files[kind] = file }
        }
        for failure in manifest["failed"]?.elements ?? [] {
            add(failure["error"], of: failure["part"]?.string ?? "")
        }
        if !failures.isEmpty { state = .incomplete }
    }

    fileprivate init(_ folder: FilePath, error: JSONValue) {
        self.init(folder, .failed, error["input"])
        add(error["error"], of: "")
    }

    fileprivate init(_ folder: FilePath, unfinished state: JSONValue) {
        self.init(folder, .unfinished, state["input"])
    }

    private mutating func add(_ error: JSONValue?, of part: String) {
        failures.append((part, error?["code"]?.string ?? "unknown", error?["message"]?.string ?? ""))
    }
}

/// The record of a file that failed as a whole: `error.json`.
package struct IngestFailure: Encodable, Sendable {
    private let schemaVersion = 1
    private let input: IngestIdentity
    private let error: ErrorReport
    private let created = UTCTime.now

    /// Creates the record.
    package init(_ input: IngestIdentity, _ error: MediaError) {
        self.input = input
        self.error = ErrorReport(error)
    }

    /// The text of the file.
    package var text: [UInt8] {
        get throws { try OrderedJSONEncoder(layout: .pretty).encode(self) + [UInt8(ascii: "\n")] }
    }

    /// Returns true if the file at a path is such a record, and not something of the user's.
    package static func isRecord(at path: FilePath) -> Bool {
        let file = WholeFile(as: "a record", atMost: 1 << 20, until: nil)
        guard let bytes = try? file.readRegular(path), let value = try? JSONReader.parse(bytes) else { return false }
        return value["schemaVersion"]?.integer == 1 && value["input"]?["path"] != nil && value["error"]?["code"] != nil
    }
}

extension IngestLibrary {
    /// Returns the page of all folders; its references are relative to the library's folder.
    ///
    /// - Parameter title: The title.
    package func gallery(title: String) -> IngestGallery {
        IngestGallery(
            title: title,
            entries: items.map { item in
                let folder = item.folder.components.map { $0.bytes.percentEncoded() }.joined(separator: "/")
                func reference(_ kind: String) -> String? {
                    item.files[kind].map { folder + "/" + $0.utf8.percentEncoded() }
                }
                var entry = IngestGallery.Entry(folder: folder + "/", name: item.name)
                entry.duration = item.duration
                entry.verdict = item.verdict.flatMap(IngestPage.Verdict.init)
                (entry.poster, entry.page) = (reference("poster"), reference("page"))
                entry.warnings = item.warnings
                if let failure = item.failures.first {
                    entry.error = failure.part.isEmpty ? failure.message : "\(failure.part): \(failure.message)"
                } else if item.state == .unfinished {
                    entry.error = "the work has begun and not ended"
                }
                return entry
            })
    }
}
