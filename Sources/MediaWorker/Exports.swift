// The error that comes with `import MediaWorker`.
@_exported public import MediaBase
