// What users of the library name comes with one import: times, formats and errors, pictures, and peaks.
@_exported public import MediaAnalysis
@_exported public import MediaBase
@_exported public import Pictures
