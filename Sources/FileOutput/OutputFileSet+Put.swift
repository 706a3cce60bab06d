package import MediaBase
package import SystemPackage

extension OutputFileSet {
    /// Writes a file whole and puts it in place at once, or with all others of a set that is whole; `-` is standard output.
    ///
    /// Folders that it needs are made. For commands that write many files: thousands of open ones are more than a process may have.
    /// - Throws: what ``begin(_:)``, writing and ``OutputFile/commit()`` throw, with the output's path.
    package func put(_ bytes: [UInt8], at path: FilePath) throws(MediaError) {
        do {
            let folder = path.removingLastComponent()
            if !folder.isEmpty { try createFolder(at: folder) }
            if isWhole { return try begin(path).complete(with: bytes) }
            let outputs = setForAnotherJob()
            try outputs.begin(path).write(contentsOf: bytes)
            try outputs.commit()
        } catch {
            throw Self.failure(error).at(path: path.string)
        }
    }

    /// Opens a file whose content comes later, so that what refuses it is known before the work for it is done.
    ///
    /// - Throws: what ``put(_:at:)`` throws before it writes.
    package func open(_ path: FilePath) throws(MediaError) -> OpenedOutput {
        do {
            let folder = path.removingLastComponent()
            if !folder.isEmpty { try createFolder(at: folder) }
            let outputs = setForAnotherJob()
            return OpenedOutput(path: path, file: try outputs.begin(path))
        } catch {
            throw Self.failure(error).at(path: path.string)
        }
    }

    /// Puts every output in place as ``commit()`` does; nothing but ``MediaError`` is thrown.
    package func commitAll() throws(MediaError) {
        do { try commit() } catch { throw Self.failure(error) }
    }

    static func failure(_ error: any Error) -> MediaError {
        error as? MediaError ?? MediaError(.inputOutput, "cannot be written", cause: "\(error)")
    }
}

/// An output that was opened and has no content yet; nothing remains of it where it never gets any.
package struct OpenedOutput {
    fileprivate let path: FilePath
    fileprivate let file: OutputFile

    /// Writes the file whole; ``commit(_:)`` puts it in place.
    ///
    /// - Throws: what writing throws, with the output's path; nothing remains of the file then.
    package func fill(_ bytes: [UInt8]) throws(MediaError) {
        do {
            try file.write(contentsOf: bytes)
        } catch {
            file.discard()
            throw OutputFileSet.failure(error).at(path: path.string)
        }
    }

    /// Puts several outputs in place in a turn of their own, and gives what went wrong.
    package static func commit(_ outputs: [OpenedOutput]) -> [MediaError] {
        OutputFile.commit(outputs.map(\.file)).map { $0.error.at(path: outputs[$0.index].path.string) }
    }
}
