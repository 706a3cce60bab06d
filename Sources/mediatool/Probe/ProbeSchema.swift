/// `docs/schema/probe.json`, the JSON Schema of what `probe` prints, as text; a test holds both equal.
enum ProbeSchema {
    // A string in the program, because a program of one file has no place to keep documents in.
    // swift-format-ignore
    static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "mediatool probe",
          "description": "One object for one file; an array of them for several files or with --array; with --jsonl, each line is one object.",
          "anyOf": [{ "$ref": "#/$defs/file" }, { "type": "array", "items": { "$ref": "#/$defs/file" } }],
          "$defs": {
            "file": {
              "description": "What is told of one file: the report, or why there is none.",
              "oneOf": [{ "$ref": "#/$defs/report" }, { "$ref": "#/$defs/failedFile" }]
            },
            "report": {
              "description": "What a file says of itself. What is unknown is left out.",
              "type": "object",
              "properties": {
                "schemaVersion": { "$ref": "#/$defs/schemaVersion" },
                "path": { "$ref": "#/$defs/path" },
                "pathBytes": { "$ref": "#/$defs/pathBytes" },
                "container": { "description": "The container as a whole.", "$ref": "#/$defs/container" },
                "tracks": { "description": "The tracks, in the container's order.", "type": "array", "items": { "$ref": "#/$defs/track" } },
                "chapters": { "description": "The chapters, in their order.", "type": "array", "items": { "$ref": "#/$defs/chapter" } },
                "metadata": { "description": "The metadata of the container as a whole, in its order.", "type": "array", "items": { "$ref": "#/$defs/metadataItem" } },
                "attachments": {
                  "description": "Files and pictures that travel in the container; each is a track too.",
                  "type": "array",
                  "items": { "$ref": "#/$defs/attachment" }
                },
                "programs": { "description": "The programs of a transport stream.", "type": "array", "items": { "$ref": "#/$defs/program" } },
                "warnings": { "description": "What was odd or damaged in the file's structure, one sentence each.", "type": "array", "items": { "type": "string" } }
              },
              "required": ["schemaVersion", "path", "container", "tracks", "chapters", "metadata", "attachments", "programs", "warnings"],
              "additionalProperties": false
            },
            "container": {
              "description": "What a container says of itself as a whole.",
              "type": "object",
              "properties": {
                "format": { "description": "The format's short name: the first of formatNames.", "type": "string" },
                "formatNames": {
                  "description": "All names of the family of formats that libavformat reads alike; mov, mp4, m4a and others are one.",
                  "type": "array",
                  "items": { "type": "string" }
                },
                "majorBrand": { "description": "The first brand (ftyp) of an ISO or QuickTime file: four characters, filled up with blanks.", "type": "string" },
                "majorBrandVersion": { "description": "The version of the first brand.", "type": "integer" },
                "compatibleBrands": { "description": "The other brands that the file claims to follow.", "type": "array", "items": { "type": "string" } },
                "duration": { "description": "How long the presentation lasts, from its zero to the end of the longest audio or video track, or in an ISO or QuickTime file also subtitle track; there, without an edit list, as long as the samples' durations add up to.", "$ref": "#/$defs/time" },
                "bitRate": { "description": "Bits a second over all tracks: the size by the duration.", "type": "integer" },
                "sizeBytes": { "description": "Length in bytes; left out for a stream.", "type": "integer", "minimum": 0 },
                "startTime": { "description": "The earliest time stamp of a track that is seen or heard, in the container's own clock. For MPEG-TS, MPEG-PS and other streams whose clock starts anywhere, this is the presentation's zero, and all other times are counted from it.", "$ref": "#/$defs/time" },
                "startTimecode": { "description": "The timecode of the first frame, HH:MM:SS:FF, or HH:MM:SS;FF where it is drop-frame.", "type": "string" },
                "fragmented": { "description": "Whether an ISO file's samples lie in fragments (moof).", "type": "boolean" },
                "indexFirst": { "description": "Whether an ISO file's index (moov) lies before its media (mdat).", "type": "boolean" }
              },
              "required": ["format", "formatNames"],
              "additionalProperties": false
            },
            "track": \#(ProbeTrackSchema.track),
            "video": \#(ProbeTrackSchema.video),
            "audio": \#(ProbeTrackSchema.audio),
            "colors": \#(ProbeTrackSchema.colors),
            "edit": \#(ProbeTrackSchema.edit),
            "chapter": {
              "description": "A named part of the presentation.",
              "type": "object",
              "properties": {
                "title": { "description": "Its title.", "type": "string" },
                "timeRange": { "description": "When it begins and how long it lasts.", "$ref": "#/$defs/timeRange" }
              },
              "required": ["timeRange"],
              "additionalProperties": false
            },
            "metadataItem": {
              "description": "One piece of descriptive metadata.",
              "type": "object",
              "properties": {
                "keySpace": { "description": "The vocabulary of the key.", "enum": ["iTunes", "quickTime", "id3", "matroska", "vorbis", "common"] },
                "key": { "description": "The key, as libavformat names it.", "type": "string" },
                "type": { "description": "What kind of value it is: words, a number, a moment in ISO 8601, a place in ISO 6709, or bytes.", "enum": ["text", "number", "date", "location", "data"] },
                "value": { "description": "What it says; left out for bytes.", "type": ["string", "number"] },
                "sizeBytes": { "description": "How many bytes it is, of type data.", "type": "integer" },
                "language": { "description": "The language of the value, as an ISO 639 code.", "type": "string" }
              },
              "required": ["keySpace", "key", "type"],
              "additionalProperties": false
            },
            "attachment": {
              "description": "A file or a picture that travels in the container.",
              "type": "object",
              "properties": {
                "trackIndex": { "description": "Which track it is.", "type": "integer" },
                "kind": { "description": "picture for cover art, file for all else.", "enum": ["picture", "file"] },
                "fileName": { "description": "Its name.", "type": "string" },
                "mimeType": { "description": "Its media type.", "type": "string" },
                "sizeBytes": { "description": "Its length.", "type": "integer", "minimum": 0 }
              },
              "required": ["trackIndex", "kind", "sizeBytes"],
              "additionalProperties": false
            },
            "program": {
              "description": "A program of a transport stream.",
              "type": "object",
              "properties": {
                "number": { "description": "The number that the program map gives it.", "type": "integer" },
                "name": { "description": "The service's name.", "type": "string" },
                "trackIndices": { "description": "The indices of its tracks.", "type": "array", "items": { "type": "integer" } },
                "startTime": { "description": "The time stamp, in the program's own clock, from which the times of its tracks are counted.", "$ref": "#/$defs/time" },
                "duration": { "description": "How long it lasts: until the last of its tracks of pictures or sound ends.", "$ref": "#/$defs/time" }
              },
              "required": ["number", "trackIndices"],
              "additionalProperties": false
            },
            "timeRange": {
              "description": "A stretch of the presentation.",
              "type": "object",
              "properties": {
                "start": { "description": "When it begins.", "$ref": "#/$defs/time" },
                "duration": { "description": "How long it lasts.", "$ref": "#/$defs/time" }
              },
              "additionalProperties": false
            },
            "cleanAperture": {
              "description": "What the container wants to be seen: the clap box of ISO and QuickTime files, the crop of Matroska.",
              "type": "object",
              "properties": {
                "width": { "description": "Pixels across.", "$ref": "#/$defs/rational" },
                "height": { "description": "Pixels down.", "$ref": "#/$defs/rational" },
                "horizontalOffset": { "description": "From the picture's centre to the aperture's, to the right.", "$ref": "#/$defs/rational" },
                "verticalOffset": { "description": "From the picture's centre to the aperture's, downwards.", "$ref": "#/$defs/rational" },
                "rect": {
                  "description": "What it cuts out, exactly: x = horizontalOffset + (encoded width - width) / 2, and y likewise; it may reach beyond the picture.",
                  "type": "object",
                  "properties": {
                    "x": { "description": "The left edge.", "$ref": "#/$defs/rational" },
                    "y": { "description": "The upper edge.", "$ref": "#/$defs/rational" },
                    "width": { "description": "Pixels across.", "$ref": "#/$defs/rational" },
                    "height": { "description": "Pixels down.", "$ref": "#/$defs/rational" }
                  },
                  "required": ["x", "y", "width", "height"],
                  "additionalProperties": false
                },
                "pixelRect": {
                  "description": "The whole pixels inside, cut to the picture.",
                  "type": "object",
                  "properties": {
                    "x": { "description": "The first column.", "type": "integer", "minimum": 0 },
                    "y": { "description": "The first row.", "type": "integer", "minimum": 0 },
                    "width": { "description": "Columns.", "type": "integer", "minimum": 1 },
                    "height": { "description": "Rows.", "type": "integer", "minimum": 1 }
                  },
                  "required": ["x", "y", "width", "height"],
                  "additionalProperties": false
                }
              },
              "required": ["width", "height", "horizontalOffset", "verticalOffset", "rect", "pixelRect"],
              "additionalProperties": false
            },
            "spread": {
              "description": "Lengths of time.",
              "type": "object",
              "properties": {
                "minimum": { "description": "The shortest.", "$ref": "#/$defs/time" },
                "average": { "description": "The mean.", "$ref": "#/$defs/time" },
                "maximum": { "description": "The longest.", "$ref": "#/$defs/time" }
              },
              "required": ["minimum", "average", "maximum"],
              "additionalProperties": false
            },
            "exactSize": {
              "description": "A size in fractions of a pixel.",
              "type": "object",
              "properties": {
                "width": { "description": "Pixels across.", "type": "number" },
                "height": { "description": "Pixels down.", "type": "number" }
              },
              "required": ["width", "height"],
              "additionalProperties": false
            },
            "size": {
              "description": "A size in pixels.",
              "type": "object",
              "properties": {
                "width": { "description": "Pixels across.", "type": "integer" },
                "height": { "description": "Pixels down.", "type": "integer" }
              },
              "required": ["width", "height"],
              "additionalProperties": false
            },
            "failedFile": \#(SchemaParts.failedFile),
            "schemaVersion": \#(SchemaParts.schemaVersion),
            "path": \#(SchemaParts.path),
            "pathBytes": \#(SchemaParts.pathBytes),
            "rational": \#(SchemaParts.rational),
            "time": \#(SchemaParts.time),
            "error": \#(SchemaParts.error)
          }
        }

        """#
}
