// A job's inputs and outputs are named in the words of the module that writes files.
@_exported public import FileOutput
