package import MediaBase
package import SystemPackage

extension OutputFileSet {
    /// Writes a file whole and puts it in place at once, with the folders that it needs; `-` is standard output.
    ///
    /// For commands that write many files: thousands of open ones are more than a process may have.
    /// - Throws: what ``begin(_:)``, writing and ``OutputFile/commit()`` throw, with the output's path.
    package func put(_ bytes: [UInt8], at path: FilePath) throws(MediaError) {
        do {
            let folder = path.removingLastComponent()
            if !folder.isEmpty { try createFolder(at: folder) }
            let outputs = setForAnotherJob()
            try outputs.begin(path).write(contentsOf: bytes)
            try outputs.commit()
        } catch let error as MediaError {
            throw error.at(path: path.string)
        } catch {
            throw MediaError(.inputOutput, "cannot be written", path: path.string, cause: "\(error)")
        }
    }
}
