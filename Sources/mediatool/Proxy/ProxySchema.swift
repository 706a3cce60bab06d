/// `docs/schema/proxy.json`, the JSON Schema of what `proxy` prints, as text; a test holds both equal.
enum ProxySchema {
    // A string in the program, because a program of one file has no place to keep documents in.
    // swift-format-ignore
    static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "mediatool proxy",
          "description": "What `mediatool proxy --json` prints for one file. Several files give an array of such objects, and --jsonl one of them a line.",
          "oneOf": [{ "$ref": "#/$defs/proxy" }, { "$ref": "#/$defs/failedFile" }],
          "$defs": {
            "proxy": {
              "description": "A proxy that was written.",
              "type": "object",
              "properties": {
                "schemaVersion": { "$ref": "#/$defs/schemaVersion" },
                "path": { "$ref": "#/$defs/path" },
                "pathBytes": { "$ref": "#/$defs/pathBytes" },
                "output": { "description": "The path of the proxy as it was written.", "type": "string" },
                "outputBytes": { "description": "The bytes of that path in base64, where it is not UTF-8.", "type": "string", "contentEncoding": "base64" },
                "preset": { "description": "The preset's name.", "type": "string" },
                "sizeBytes": { "description": "How large the proxy is.", "type": "integer", "minimum": 0 },
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
                "duration": { "description": "How long the proxy lasts.", "$ref": "#/$defs/time" },
                "startTimecode": { "description": "The timecode of its first picture; absent where it has none.", "type": "string" },
                "video": {
                  "description": "Its pictures.",
                  "type": "object",
                  "properties": {
                    "trackIndex": { "description": "The source's track: its place in the container, as probe prints it.", "type": "integer", "minimum": 0 },
                    "trackID": { "description": "The container's own number of that track.", "type": "integer" },
                    "codec": { "description": "libavcodec's name of the codec.", "type": "string" },
                    "profile": { "description": "The codec's profile, in words; absent where it has none.", "type": "string" },
                    "encodedSize": {
                      "description": "The stored picture, in pixels.",
                      "type": "object",
                      "properties": {
                        "width": { "description": "Columns.", "type": "integer", "minimum": 2 },
                        "height": { "description": "Rows.", "type": "integer", "minimum": 2 }
                      },
                      "required": ["width", "height"],
                      "additionalProperties": false
                    },
                    "sampleAspectRatio": { "description": "Width of a pixel by its height; absent where the file does not say.", "$ref": "#/$defs/rational" },
                    "frameCount": { "description": "How many pictures there are.", "type": "integer", "minimum": 1 },
                    "frameRate": { "description": "Pictures a second on average; absent where unknown.", "$ref": "#/$defs/rational" }
                  },
                  "required": ["trackIndex", "trackID", "codec", "encodedSize", "frameCount"],
                  "additionalProperties": false
                },
                "audio": {
                  "description": "Its tracks of sound, in the order of the file.",
                  "type": "array",
                  "items": {
                    "description": "A track of sound.",
                    "type": "object",
                    "properties": {
                      "trackIndex": { "description": "The source's track: its place in the container, as probe prints it.", "type": "integer", "minimum": 0 },
                      "trackID": { "description": "The container's own number of that track.", "type": "integer" },
                      "codec": { "description": "libavcodec's name of the codec.", "type": "string" },
                      "copied": { "description": "Whether the source's samples were taken as they are.", "type": "boolean" },
                      "sampleRate": { "description": "Samples a second.", "type": "integer", "minimum": 1 },
                      "channels": { "description": "How many channels there are; 0 where the header of damaged sound does not say.", "type": "integer", "minimum": 0 },
                      "channelLayout": { "description": "Which channels they are; absent where only their number is known.", "type": "string" }
                    },
                    "required": ["trackIndex", "trackID", "codec", "copied", "sampleRate", "channels"],
                    "additionalProperties": false
                  }
                },
                "leftOut": {
                  "description": "The source's tracks that are not in the proxy, apart from timecode, which is made anew.",
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
                "changes": { "description": "What the proxy has not kept because its format cannot, and sound that is not encoded as the preset has it, in words.", "type": "array", "items": { "type": "string" } },
                "differences": {
                  "description": "What of the source the proxy says in other words, or not, although it was to be kept: tags, layouts, dates. Each is a warning too.",
                  "type": "array",
                  "items": { "$ref": "#/$defs/failedCheck" }
                },
                "checks": {
                  "description": "What was compared with the source after writing. What does not hold is among the differences; of another proxy nothing is kept.",
                  "type": "array",
                  "items": {
                    "description": "Something that has to be as in the source.",
                    "type": "object",
                    "properties": {
                      "name": { "description": "What was compared.", "enum": ["tracks", "frameCount", "frameTimes", "duration", "displayShape", "pixelAspect", "cleanAperture", "rotation", "color", "hdr", "startTimecode", "audioChannels", "channelLayout", "audioStart", "audioEnd", "language", "name", "dates", "metadata", "chapters", "indexFirst"] },
                      "trackIndex": { "description": "The source's track; absent for the file as a whole.", "type": "integer", "minimum": 0 },
                      "passed": { "description": "Whether it holds.", "type": "boolean" },
                      "wanted": { "description": "What the source says, or what follows from it, for a person.", "type": "string" },
                      "found": { "description": "What the proxy says.", "type": "string" }
                    },
                    "required": ["name", "passed", "wanted", "found"],
                    "additionalProperties": false
                  },
                  "minItems": 1
                },
                "damage": { "description": "What of the source could not be used; absent where everything could.", "$ref": "#/$defs/damage" }
              },
              "required": ["schemaVersion", "path", "output", "preset", "sizeBytes", "duration", "video", "audio", "leftOut", "changes", "differences", "checks"],
              "additionalProperties": false
            },
            "failedFile": \#(SchemaParts.failedFile),
            "schemaVersion": \#(SchemaParts.schemaVersion),
            "path": \#(SchemaParts.path),
            "pathBytes": \#(SchemaParts.pathBytes),
            "damage": \#(SchemaParts.damage),
            "rational": \#(SchemaParts.rational),
            "time": \#(SchemaParts.time),
            "error": {
              "description": "What failed.",
              "type": "object",
              "properties": {
                "code": { "description": "The kind of failure, such as notFound, unknownFormat or damaged; what a program decides by.", "type": "string" },
                "message": { "description": "What failed, and what to try, in one sentence for a person.", "type": "string" },
                "failedChecks": {
                  "description": "What made the finished file useless, so that it was not kept; absent where something else failed.",
                  "type": "array",
                  "items": { "$ref": "#/$defs/failedCheck" },
                  "minItems": 1
                }
              },
              "required": ["code", "message"],
              "additionalProperties": false
            },
            "failedCheck": {
              "description": "Something that was compared and does not hold.",
              "type": "object",
              "properties": {
                "name": { "description": "What was compared, as among the checks.", "type": "string" },
                "trackIndex": { "description": "The source's track; absent for the file as a whole.", "type": "integer", "minimum": 0 },
                "wanted": { "description": "What the source says, or what follows from it, for a person.", "type": "string" },
                "found": { "description": "What the proxy says.", "type": "string" }
              },
              "required": ["name", "wanted", "found"],
              "additionalProperties": false
            }
          }
        }

        """#
}
