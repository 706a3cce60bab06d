// What users of the library name comes with one import: times, formats and errors, and pictures.
@_exported public import MediaBase
@_exported public import Pictures
