import LibAV

/// The FFmpeg libraries that do the work, as they were found when the process started.
package enum LinkedLibraries {
    /// The name and the version of each, such as `libavcodec` and `59.37.100`.
    package static var versions: [(name: String, version: String)] { LoadedLibraries.versions }
}
