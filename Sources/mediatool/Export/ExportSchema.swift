/// `docs/schema/export.json`, the JSON Schema of what `export` prints, as text; a test holds both equal.
enum ExportSchema {
    // A string in the program, because a program of one file has no place to keep documents in.
    // swift-format-ignore
    static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "mediatool export",
          "description": "What `mediatool export --json` prints for one input. Several inputs give an array of such objects, and --jsonl one of them a line.",
          "oneOf": [{ "$ref": "#/$defs/export" }, { "$ref": "#/$defs/failedFile" }],
          "$defs": {
            "export": {
              "description": "A file that was written.",
              "type": "object",
              "properties": {
                "schemaVersion": { "$ref": "#/$defs/schemaVersion" },
                "path": { "$ref": "#/$defs/path" },
                "pathBytes": { "$ref": "#/$defs/pathBytes" },
                "output": { "description": "The path of the output as it was written.", "type": "string" },
                "outputBytes": { "description": "The bytes of that path in base64, where it is not UTF-8.", "type": "string", "contentEncoding": "base64" },
                "preset": { "description": "The preset's name.", "type": "string" },
                "copied": { "description": "Whether samples were taken as they are.", "type": "boolean" },
                "sizeBytes": { "description": "How large the output is.", "type": "integer", "minimum": 0 },
                "requested": {
                  "description": "The range that was asked for; absent for all of the source.",
                  "type": "object",
                  "properties": {
                    "start": { "description": "The first moment; absent where none was asked for.", "$ref": "#/$defs/time" },
                    "end": { "description": "The first moment that is not wanted; absent where none was asked for.", "$ref": "#/$defs/time" }
                  },
                  "required": [],
                  "additionalProperties": false
                },
                "duration": { "description": "How long the output lasts.", "$ref": "#/$defs/time" },
                "startTimecode": { "description": "The timecode of its first picture; absent where it has none.", "type": "string" },
                "timeline": {
                  "description": "What the timeline is; absent for a media file.",
                  "type": "object",
                  "properties": {
                    "name": { "description": "Its name; empty where it has none.", "type": "string" },
                    "duration": { "description": "How long it is.", "$ref": "#/$defs/time" },
                    "renderSize": {
                      "description": "The size in which the pictures were composited; absent without pictures, and where they were copied.",
                      "type": "object",
                      "properties": {
                        "width": { "description": "Columns.", "type": "integer", "minimum": 2 },
                        "height": { "description": "Rows.", "type": "integer", "minimum": 2 }
                      },
                      "required": ["width", "height"],
                      "additionalProperties": false
                    },
                    "frameRate": { "description": "Frames a second; absent without pictures.", "$ref": "#/$defs/rational" },
                    "clips": { "description": "How many clips it has.", "type": "integer", "minimum": 0 },
                    "dissolves": { "description": "How many dissolves it has.", "type": "integer", "minimum": 0 },
                    "videoTracks": { "description": "How many tracks of pictures it has.", "type": "integer", "minimum": 0 },
                    "audioTracks": { "description": "How many tracks of sound it has.", "type": "integer", "minimum": 0 },
                    "mediaFiles": { "description": "How many media files it names.", "type": "integer", "minimum": 0 }
                  },
                  "required": ["name", "duration", "clips", "dissolves", "videoTracks", "audioTracks", "mediaFiles"],
                  "additionalProperties": false
                },
                "video": {
                  "description": "The pictures that were written; absent where there are none.",
                  "type": "object",
                  "properties": {
                    "codec": { "description": "libavcodec's name of the codec.", "type": "string" },
                    "profile": { "description": "The codec's profile, in words; absent where it has none.", "type": "string" },
                    "encodedSize": {
                      "description": "The stored picture, in pixels.",
                      "type": "object",
                      "properties": {
                        "width": { "description": "Columns.", "type": "integer", "minimum": 1 },
                        "height": { "description": "Rows.", "type": "integer", "minimum": 1 }
                      },
                      "required": ["width", "height"],
                      "additionalProperties": false
                    },
                    "sampleAspectRatio": { "description": "Width of a pixel by its height; absent where the file does not say.", "$ref": "#/$defs/rational" },
                    "frameCount": { "description": "How many pictures are shown.", "type": "integer", "minimum": 0 },
                    "frameRate": { "description": "Pictures a second on average; absent where unknown.", "$ref": "#/$defs/rational" },
                    "delivered": { "$ref": "#/$defs/delivered" }
                  },
                  "required": ["codec", "encodedSize", "frameCount", "delivered"],
                  "additionalProperties": false
                },
                "audio": {
                  "description": "The tracks of sound that were written, in the order of the file.",
                  "type": "array",
                  "items": {
                    "description": "A track of sound.",
                    "type": "object",
                    "properties": {
                      "codec": { "description": "libavcodec's name of the codec.", "type": "string" },
                      "sampleRate": { "description": "Samples a second.", "type": "integer", "minimum": 1 },
                      "channels": { "description": "How many channels there are; 0 where the header of damaged sound does not say.", "type": "integer", "minimum": 0 },
                      "channelLayout": { "description": "Which channels they are; absent where only their number is known.", "type": "string" },
                      "delivered": { "$ref": "#/$defs/delivered" }
                    },
                    "required": ["codec", "sampleRate", "channels", "delivered"],
                    "additionalProperties": false
                  }
                },
                "subtitles": {
                  "description": "The subtitle tracks that were copied; absent where there are none.",
                  "type": "array",
                  "items": {
                    "description": "A subtitle track.",
                    "type": "object",
                    "properties": {
                      "codec": { "description": "libavcodec's name of the codec.", "type": "string" },
                      "language": { "description": "ISO 639-2 code of its language; absent where the file does not say.", "type": "string" }
                    },
                    "required": ["codec"],
                    "additionalProperties": false
                  }
                },
                "leftOut": {
                  "description": "The source's tracks that are not in the output, apart from timecode, which is made anew.",
                  "type": "array",
                  "items": {
                    "description": "A track that was left out, or that has nothing in the range.",
                    "type": "object",
                    "properties": {
                      "trackIndex": { "description": "The source's track: its place in the container, as probe prints it.", "type": "integer", "minimum": 0 },
                      "trackID": { "description": "The container's own number of that track.", "type": "integer" },
                      "type": { "description": "What it carries, such as subtitle or data.", "type": "string" },
                      "codec": { "description": "libavcodec's name of the codec; absent where it is not known.", "type": "string" },
                      "reason": { "description": "Why it is not there, in words.", "type": "string" }
                    },
                    "required": ["trackIndex", "trackID", "type", "reason"],
                    "additionalProperties": false
                  }
                },
                "warnings": { "description": "What a person should know although all was delivered, in words.", "type": "array", "items": { "type": "string" } },
                "damage": { "description": "What of the source could not be used; absent where everything could.", "$ref": "#/$defs/damage" }
              },
              "required": ["schemaVersion", "path", "output", "preset", "copied", "sizeBytes", "duration", "audio", "leftOut", "warnings"],
              "additionalProperties": false
            },
            "delivered": {
              "description": "What a track shows of the input, by the finished file's word, on the input's time line.",
              "type": "object",
              "properties": {
                "start": { "description": "The first moment.", "$ref": "#/$defs/time" },
                "end": { "description": "The first moment that is not shown any more.", "$ref": "#/$defs/time" },
                "storedFrom": { "description": "From where samples are stored that are not shown, because others need them; absent where there are none.", "$ref": "#/$defs/time" }
              },
              "required": ["start", "end"],
              "additionalProperties": false
            },
            "failedFile": \#(SchemaParts.failedFile),
            "schemaVersion": \#(SchemaParts.schemaVersion),
            "path": \#(SchemaParts.path),
            "pathBytes": \#(SchemaParts.pathBytes),
            "damage": \#(SchemaParts.damage),
            "rational": \#(SchemaParts.rational),
            "time": \#(SchemaParts.time),
            "error": \#(SchemaParts.error)
          }
        }

        """#
}
