/// Definitions that the schemas of several commands have, indented as they stand under `$defs`.
// swift-format-ignore
enum SchemaParts {
    /// `$defs/failedFile`.
    static let failedFile = #"""
        {
              "description": "A file of which there is nothing but the reason why.",
              "type": "object",
              "properties": {
                "schemaVersion": { "$ref": "#/$defs/schemaVersion" },
                "path": { "$ref": "#/$defs/path" },
                "pathBytes": { "$ref": "#/$defs/pathBytes" },
                "error": { "$ref": "#/$defs/error" }
              },
              "required": ["schemaVersion", "path", "error"],
              "additionalProperties": false
            }
        """#

    /// `$defs/schemaVersion`.
    static let schemaVersion = #"""
        { "description": "The version of this schema.", "const": 1 }
        """#

    /// `$defs/path`.
    static let path = #"""
        { "description": "The input as it was named; what is not UTF-8 in it is repaired with U+FFFD. '-' is standard input.", "type": "string" }
        """#

    /// `$defs/pathBytes`.
    static let pathBytes = #"""
        { "description": "The bytes of the input's path in base64, where it is not UTF-8.", "type": "string", "contentEncoding": "base64" }
        """#

    /// `$defs/damage`.
    static let damage = #"""
        {
              "description": "What could not be used.",
              "type": "object",
              "properties": {
                "packets": { "description": "Packets that are damaged: marked by the demuxer, refused or patched up by the decoder, or missing in Ogg.", "type": "integer", "minimum": 0 },
                "truncated": { "description": "Whether the container broke off before its end.", "type": "boolean" },
                "ranges": {
                  "description": "Where they lie, 100 at most; packets one behind the other are one range.",
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "trackIndex": { "description": "The track: its place in the container, as probe prints it.", "type": "integer", "minimum": 0 },
                      "start": { "description": "When the first of the packets would have been shown or heard.", "$ref": "#/$defs/time" },
                      "duration": { "description": "How long they are together; 0 where that is not known.", "$ref": "#/$defs/time" }
                    },
                    "required": ["trackIndex", "start", "duration"],
                    "additionalProperties": false
                  }
                },
                "skippedBytes": { "description": "Bytes before the media that are none of it and were passed over.", "type": "integer", "minimum": 0 }
              },
              "required": ["packets", "truncated", "ranges", "skippedBytes"],
              "additionalProperties": false
            }
        """#

    /// `$defs/rational`.
    static let rational = #"""
        {
              "description": "An exact fraction in lowest terms.",
              "type": "object",
              "properties": {
                "num": { "description": "Above the line.", "type": "integer" },
                "den": { "description": "Below the line.", "type": "integer", "minimum": 1 }
              },
              "required": ["num", "den"],
              "additionalProperties": false
            }
        """#

    /// `$defs/time`.
    static let time = #"""
        {
              "description": "An exact time: value ticks of 1/timescale second.",
              "type": "object",
              "properties": {
                "value": { "description": "The number of ticks; 0 where the time is not a number.", "type": "integer" },
                "timescale": { "description": "Ticks a second; 0 where the time is not a number.", "type": "integer", "minimum": 0 },
                "seconds": { "description": "The seconds as the nearest floating-point number; null where the time is not a number.", "type": ["number", "null"] },
                "flags": {
                  "description": "What makes the time more, or less, than a plain exact number; absent for one that is.",
                  "type": "array",
                  "items": { "enum": ["hasBeenRounded", "positiveInfinity", "negativeInfinity", "indefinite", "invalid"] }
                }
              },
              "required": ["value", "timescale", "seconds"],
              "additionalProperties": false
            }
        """#

    /// `$defs/error`.
    static let error = #"""
        {
              "description": "What failed.",
              "type": "object",
              "properties": {
                "code": { "description": "The kind of failure, such as notFound, unknownFormat or damaged; what a program decides by.", "type": "string" },
                "message": { "description": "What failed, and what to try, in one sentence for a person.", "type": "string" }
              },
              "required": ["code", "message"],
              "additionalProperties": false
            }
        """#
}
