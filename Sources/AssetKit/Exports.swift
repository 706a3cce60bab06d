// Names of other modules that come with `import AssetKit`: times, formats and errors, pictures, paths.
import LibAV
@_exported public import MediaBase
@_exported public import Pictures

@_exported public import struct Network.NetworkOptions
@_exported public import struct SystemPackage.FileDescriptor
@_exported public import struct SystemPackage.FilePath

/// The FFmpeg libraries that do the work, for those who may not import LibAV.
package enum LinkedLibraries {
    /// The name and the version of each, such as `libavcodec` and `59.37.100`, as they were found when the process started.
    package static var versions: [(name: String, version: String)] { LoadedLibraries.versions }
}
