/// `docs/schema/qc-policy.json` as text; a test holds both equal.
enum QCPolicySchema {
    // A string in the program, because a program of one file has no place to keep documents in.
    // swift-format-ignore
    static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "mediatool qc policy",
          "description": "What a file has to be like. Written as YAML; anchors and aliases are not allowed.",
          "type": "object",
          "properties": {
            "name": { "description": "What reports call the policy; without it, the file's name.", "type": "string" },
            "description": { "description": "What it is for.", "type": "string" },
            "pairs": {
              "description": "Tracks of one channel each that are measured as the two channels of one sound, such as [[a:0, a:1]].",
              "type": "array",
              "maxItems": 64,
              "items": { "type": "array", "items": { "type": ["string", "integer"] }, "minItems": 2, "maxItems": 2 }
            },
            "rules": { "description": "The rules.", "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/rule" } }
          },
          "required": ["rules"],
          "additionalProperties": false,
          "$defs": {
            "rule": {
              "description": "One rule: a condition, and what it means when it does not hold.",
              "type": "object",
              "properties": {
                "id": { "description": "The name by which reports speak of the rule; each has its own.", "type": "string", "minLength": 1, "maxLength": 200 },
                "severity": { "description": "What it means when the rule does not hold; fail unless given.", "enum": ["fail", "warn"] },
                "message": { "description": "What is said then; {measured}, {wanted}, {track}, {start} and {end} stand for what was found.", "type": "string" }
              },
              "required": ["id"],
              "$ref": "#/$defs/condition",
              "unevaluatedProperties": false
            },
            "condition": {
              "description": "What must hold.",
              "type": "object",
              "oneOf": [
                {
                  "properties": {
                    "field": { "description": "A path to values in what probe --json prints, such as tracks[type=video].video.displaySize.width; brackets hold a place, * for all, or a member and its value.", "type": "string" },
                    "equals": { "$ref": "#/$defs/value" },
                    "min": { "$ref": "#/$defs/number" },
                    "max": { "$ref": "#/$defs/number" },
                    "oneOf": { "type": "array", "items": { "$ref": "#/$defs/value" }, "minItems": 1 },
                    "matches": { "description": "A regular expression that is met somewhere in the value's text.", "type": "string" },
                    "exists": { "description": "Whether there is anything at that place; an empty list is nothing. All other tests fail where a track or the file has no such value.", "type": "boolean" }
                  },
                  "required": ["field"]
                },
                {
                  "properties": {
                    "check": { "description": "What is measured; mediatool qc --list-checks tells what each is.", "enum": ["audioTracks", "loudness.integrated", "loudness.range", "loudness.momentaryMaximum", "loudness.shortTermMaximum", "truePeak", "samplePeak", "dcOffset", "correlation", "dualMono", "mutedChannels", "letterboxRows", "letterboxColumns", "duplicateFrames", "missingFrames", "variableFrameRate", "fieldMismatch", "startDifference", "lengthDifference", "headerMismatches", "damage", "reference.psnr", "reference.psnrMinimum", "reference.ssim", "reference.ssimMinimum", "reference.unpairedFrames", "reference.soundOffset", "reference.soundDifference"] },
                    "equals": { "$ref": "#/$defs/value" },
                    "min": { "$ref": "#/$defs/number" },
                    "max": { "$ref": "#/$defs/number" },
                    "oneOf": { "type": "array", "items": { "$ref": "#/$defs/value" }, "minItems": 1 },
                    "matches": { "type": "string" },
                    "exists": { "type": "boolean" }
                  },
                  "required": ["check"]
                },
                {
                  "properties": {
                    "check": { "description": "What is looked for: each run that is found is a finding.", "enum": ["silence", "channelSilence", "clipping", "black", "freeze", "illegalLuma", "illegalColor", "repeatedFrames", "droppedFrames"] },
                    "threshold": { "description": "From where on it counts, in the unit of the check.", "$ref": "#/$defs/number" },
                    "minDuration": { "description": "How long a run lasts at least, in seconds.", "type": "number", "minimum": 0 },
                    "head": { "description": "Only the first so many seconds count.", "type": "number", "minimum": 0 },
                    "tail": { "description": "Only the last so many seconds count.", "type": "number", "minimum": 0 }
                  },
                  "required": ["check"]
                },
                {
                  "properties": { "all": { "type": "array", "items": { "$ref": "#/$defs/part" }, "minItems": 1 } },
                  "required": ["all"]
                },
                {
                  "properties": { "any": { "type": "array", "items": { "$ref": "#/$defs/part" }, "minItems": 1 } },
                  "required": ["any"]
                },
                {
                  "properties": { "not": { "$ref": "#/$defs/part" } },
                  "required": ["not"]
                }
              ]
            },
            "part": {
              "description": "A condition inside another one.",
              "$ref": "#/$defs/condition",
              "unevaluatedProperties": false
            },
            "value": { "description": "A text, a number, a fraction such as 30000/1001, or true or false.", "type": ["string", "number", "boolean"] },
            "number": { "description": "A number, or a fraction such as 30000/1001.", "type": ["number", "string"] }
          }
        }

        """#
}
