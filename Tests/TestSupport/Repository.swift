import Foundation

/// Where the files of this repository lie, found from the place of this source file.
public enum Repository {
    /// The top folder's path, without a final slash.
    public static let root: String = {
        // Tests/TestSupport/Repository.swift
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...3 { folder.deleteLastPathComponent() }
        return folder.path
    }()

    /// The path of a file or folder of the repository.
    public static func path(_ relative: String) -> String { root + "/" + relative }

    /// The small sample movie: 11.5 s, H.264 stored 320x180 and turned by 90 degrees, AAC stereo at 48 kHz.
    public static let sampleMovie = path("docs/Examples/sample.mov")
}

/// A folder of real media beside the repository, which a clone need not have.
public enum Corpus {
    /// The folder's path, or `nil` where there is none; for `.enabled(if: Corpus.folder != nil)`.
    public static let folder: String? = {
        let path = URL(fileURLWithPath: Repository.root).deletingLastPathComponent()
            .appendingPathComponent("shared/corpus").path
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }()

    /// The path of one file of the corpus, or `nil` where there is no corpus or no such file.
    public static func path(_ relative: String) -> String? {
        guard let path = folder.map({ $0 + "/" + relative }) else { return nil }
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }
}
