package import FileOutput
public import MediaBase
public import SystemPackage
import Threading

// MARK: - Exporting to a file, a sink, or segments

extension ExportSession {
    /// Writes the file on threads outside Swift's cooperative pool; cancelling the task cancels the export.
    ///
    /// - Parameters:
    ///   - path: The path of the new file.
    ///   - fileType: The type of the file; one of ``supportedFileTypes()``.
    ///   - overwrite: True to replace an existing file, at the end of the export.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` for a file type that the preset cannot make from the
    ///   asset, ``MediaError/Code-swift.struct/invalidArgument`` if the session has exported before or the path is that
    ///   of a file being read, and any error during the export; nothing remains of the file then.
    public func export(
        to path: FilePath, as fileType: MediaFileType, overwrite: Bool = false
    ) async throws(MediaError) {
        try await export(named: path, as: fileType) { () throws(MediaError) in
            try AssetWriter(path: path, fileType: fileType, overwrite: overwrite)
        }
    }

    private func export(
        named path: FilePath, as fileType: MediaFileType,
        to makeWriter: @escaping @Sendable () throws(MediaError) -> AssetWriter
    ) async throws(MediaError) {
        try claim()
        do throws(MediaError) {
            try await offload(onCancel: { self.cancel() }) { () throws(MediaError) in
                try self.run(fileType, makeWriter)
            }
        } catch {
            throw failure(error, path)
        }
    }

    /// Writes the file to a sink; see ``export(to:as:overwrite:)``.
    ///
    /// - Parameters:
    ///   - sink: The sink, which receives the file whole or, with ``movieFragmentInterval``, in fragments.
    ///   - fileType: The type of the file; one of ``supportedFileTypes()``.
    ///   - name: The name of the output in errors.
    /// - Throws: As ``export(to:as:overwrite:)`` does, and the errors of the sink, which is told to discard the output.
    public func export(
        to sink: any ByteSink, as fileType: MediaFileType, name: String = "the sink"
    ) async throws(MediaError) {
        try await export(named: FilePath(name), as: fileType) { () throws(MediaError) in
            try AssetWriter(sink: sink, fileType: fileType, name: name)
        }
    }

    /// Hands out the movie in segments for streaming; see ``AssetWriter/init(segmentsOf:receive:)``.
    ///
    /// - Parameters:
    ///   - fileType: The type of the segments: `mp4`, `m4a` or `mov`.
    ///   - interval: The duration of a segment.
    ///   - receive: Receives the header and then each segment, in order.
    /// - Throws: As ``export(to:as:overwrite:)`` does, and the errors of `receive`.
    public func export(
        segmentsOf fileType: MediaFileType, every interval: MediaTime,
        receive: @escaping @Sendable (AssetSegment) throws(MediaError) -> Void
    ) async throws(MediaError) {
        try await export(named: "the segments", as: fileType) { () throws(MediaError) in
            try Self.segmentWriter(fileType, interval, receive)
        }
    }

    private static func segmentWriter(
        _ fileType: MediaFileType, _ interval: MediaTime,
        _ receive: @escaping @Sendable (AssetSegment) throws(MediaError) -> Void
    ) throws(MediaError) -> AssetWriter {
        let writer = try AssetWriter(segmentsOf: fileType, receive: receive)
        writer.preferredOutputSegmentInterval = interval
        return writer
    }

    /// Exports segments of a job as ``export(segmentsOf:every:receive:)`` does; blocks until all are complete.
    package func exportNow(
        segmentsOf fileType: MediaFileType, every interval: MediaTime, named path: FilePath,
        receive: @escaping @Sendable (AssetSegment) throws(MediaError) -> Void
    ) throws(MediaError) {
        try claim()
        do throws(MediaError) {
            try run(fileType) { () throws(MediaError) in try Self.segmentWriter(fileType, interval, receive) }
        } catch {
            throw failure(error, path)
        }
    }

    /// Exports to an output file of a job as ``export(to:as:overwrite:)`` does; blocks until the file is complete.
    package func exportNow(to output: OutputFile, as fileType: MediaFileType) throws(MediaError) {
        try claim()
        do throws(MediaError) {
            try run(fileType) { () throws(MediaError) in try AssetWriter(output: output, fileType: fileType) }
        } catch {
            throw failure(error, output.path)
        }
    }
}
