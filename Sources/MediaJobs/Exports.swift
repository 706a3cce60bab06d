// A job's inputs and outputs are named in the words of the module that writes files.
@_exported public import FileOutput
// A job takes tracks as a user selects them, and reports damage in the same words as the checks.
@_exported public import Inspection
