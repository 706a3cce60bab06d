/// `docs/schema/qc.json`, the JSON Schema of what `qc` prints, as text; a test holds both equal.
enum QCSchema {
    // A string in the program, because a program of one file has no place to keep documents in.
    // swift-format-ignore
    static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "mediatool qc",
          "description": "One object for one file; an array of them for several files or with --array; with --jsonl, each line is one object.",
          "anyOf": [{ "$ref": "#/$defs/file" }, { "type": "array", "items": { "$ref": "#/$defs/file" } }],
          "$defs": {
            "file": {
              "description": "What is told of one file: the report, or why there is none.",
              "oneOf": [{ "$ref": "#/$defs/report" }, { "$ref": "#/$defs/failedFile" }]
            },
            "report": {
              "description": "What came of a file under a policy.",
              "type": "object",
              "properties": {
                "schemaVersion": { "$ref": "#/$defs/schemaVersion" },
                "path": { "$ref": "#/$defs/path" },
                "pathBytes": { "$ref": "#/$defs/pathBytes" },
                "verdict": { "description": "fail where a rule of severity fail does not hold, warn where only others do not.", "enum": ["pass", "warn", "fail"] },
                "policy": { "description": "The policy's name.", "type": "string" },
                "rules": { "description": "What came of each rule, in the policy's order.", "type": "array", "items": { "$ref": "#/$defs/rule" } },
                "findings": { "description": "What does not hold, rule by rule; of each rule as many as --findings says.", "type": "array", "items": { "$ref": "#/$defs/finding" } },
                "measurements": { "$ref": "#/$defs/measurements" },
                "warnings": { "description": "What was odd or damaged in the file's structure, one sentence each.", "type": "array", "items": { "type": "string" } }
              },
              "required": ["schemaVersion", "path", "verdict", "policy", "rules", "findings", "measurements", "warnings"],
              "additionalProperties": false
            },
            "rule": {
              "description": "What came of one rule.",
              "type": "object",
              "properties": {
                "id": { "description": "The rule's id.", "type": "string" },
                "status": { "description": "notApplicable where the file has nothing that the rule is about: neither pass nor fail.", "enum": ["pass", "warn", "fail", "notApplicable"] },
                "reason": { "description": "Why the rule is not applicable.", "type": "string" },
                "findingCount": { "description": "How many findings there are, with those that are not listed; left out where the rule holds.", "type": "integer", "minimum": 1 }
              },
              "required": ["id", "status"],
              "additionalProperties": false
            },
            "finding": {
              "description": "Something that does not hold.",
              "type": "object",
              "properties": {
                "id": { "description": "The same for the same file and policy: the rule, the track and channel, and when it begins.", "type": "string" },
                "rule": { "description": "The rule's id.", "type": "string" },
                "severity": { "description": "How bad it is.", "enum": ["warn", "fail"] },
                "trackIndex": { "description": "The track; left out for the file as a whole.", "type": "integer", "minimum": 0 },
                "channel": { "description": "The channel, from 0; left out for all.", "type": "integer", "minimum": 0 },
                "start": { "description": "When it begins; left out for the whole track or file.", "$ref": "#/$defs/time" },
                "end": { "description": "The first moment after it.", "$ref": "#/$defs/time" },
                "startTimecode": { "description": "The timecode of the picture at its start: from the file's start timecode on, which is that of the first picture, else from 00:00:00:00; left out without pictures.", "type": "string" },
                "endTimecode": { "description": "The timecode of the picture at its end, the first one after it.", "type": "string" },
                "measured": { "description": "What was measured.", "type": "string" },
                "wanted": { "description": "What was wanted.", "type": "string" },
                "message": { "description": "It in a sentence.", "type": "string" }
              },
              "required": ["id", "rule", "severity", "measured", "wanted", "message"],
              "additionalProperties": false
            },
            "measurements": {
              "description": "What was measured, as far as the policy asks for it; what could not be measured is left out.",
              "type": "object",
              "properties": {
                "tracks": { "description": "The tracks that were decoded, in the container's order.", "type": "array", "items": { "$ref": "#/$defs/track" } },
                "damage": { "description": "What could not be used.", "$ref": "#/$defs/damage" },
                "emptyTracks": { "description": "Tracks of sound or pictures of which nothing could be decoded, though the container does not say that they are empty; left out where there are none.", "type": "array", "items": { "type": "integer", "minimum": 0 } },
                "headerMismatches": {
                  "description": "What the container says otherwise than the coded media; left out where that was not asked for.",
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "trackIndex": { "description": "The track.", "type": "integer", "minimum": 0 },
                      "what": { "description": "What it is about.", "enum": ["size", "sampleRate", "channels", "length", "frameRate", "color", "fields"] },
                      "container": { "description": "The container's word.", "type": "string" },
                      "media": { "description": "What the coded media say, or what came out of the decoder.", "type": "string" }
                    },
                    "required": ["what", "container", "media"],
                    "additionalProperties": false
                  }
                },
                "reference": {
                  "description": "How the file differs from the one of --reference; left out without one.",
                  "type": "object",
                  "properties": {
                    "pictures": {
                      "description": "The pictures of the first video track of each; left out where one has none.",
                      "type": "object",
                      "properties": {
                        "count": { "description": "How many were compared.", "type": "integer", "minimum": 0 },
                        "unpaired": { "description": "How many of either file had no other one shown at the same time.", "type": "integer", "minimum": 0 },
                        "psnr": { "description": "Peak signal-to-noise ratios, dB; what does not differ has none.", "$ref": "#/$defs/scores" },
                        "ssim": { "description": "Structural similarities, 0 to 1.", "$ref": "#/$defs/scores" }
                      },
                      "required": ["count", "unpaired", "psnr", "ssim"],
                      "additionalProperties": false
                    },
                    "sound": {
                      "description": "The sound of the first audio track of each; left out where one has none, or is silent.",
                      "type": "object",
                      "properties": {
                        "offset": { "description": "How much later the file's sound is; left out where the two are alike nowhere.", "$ref": "#/$defs/time" },
                        "correlation": { "description": "How alike the beginnings are when they are in step; near -1 one is inverted.", "type": "number", "minimum": -1.0001, "maximum": 1.0001 },
                        "difference": { "description": "Level of what differs when both are in step, dB against the reference; left out where nothing does.", "type": "number" }
                      },
                      "required": ["correlation"],
                      "additionalProperties": false
                    }
                  },
                  "additionalProperties": false
                }
              },
              "required": ["tracks", "damage"],
              "additionalProperties": false
            },
            "track": {
              "description": "One decoded track.",
              "type": "object",
              "properties": {
                "trackIndex": { "description": "The track's place among all tracks.", "type": "integer", "minimum": 0 },
                "pairedTrackIndex": { "description": "The track whose sound is the second channel; left out for a track that was measured alone.", "type": "integer", "minimum": 0 },
                "sound": { "$ref": "#/$defs/sound" },
                "pictures": { "$ref": "#/$defs/pictures" },
                "runs": { "description": "What checks that look for runs found.", "type": "array", "items": { "$ref": "#/$defs/runs" } }
              },
              "required": ["trackIndex", "runs"],
              "additionalProperties": false
            },
            "sound": {
              "description": "What was measured of a track's sound.",
              "type": "object",
              "properties": {
                "sampleRate": { "description": "Samples a second.", "type": "integer" },
                "start": { "description": "When its first sample is heard.", "$ref": "#/$defs/time" },
                "duration": { "description": "How long it is, with silence for a late start and for holes.", "$ref": "#/$defs/time" },
                "integratedLoudness": { "description": "LUFS, ITU-R BS.1770-5; left out where nothing is as loud as -70 LUFS for 400 ms.", "type": "number" },
                "loudnessRange": { "description": "LU, EBU Tech 3342; left out where nothing is as loud as -70 LUFS for 3 s.", "type": "number" },
                "momentaryMaximum": { "description": "The loudest 400 ms.", "$ref": "#/$defs/loudest" },
                "shortTermMaximum": { "description": "The loudest 3 s.", "$ref": "#/$defs/loudest" },
                "truePeak": { "description": "The highest of all channels, dBTP; left out for silence.", "type": "number" },
                "channels": {
                  "description": "Each channel.",
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "weight": { "description": "How much it counts for loudness; 0 for low-frequency effects.", "type": "number", "minimum": 0 },
                      "truePeak": { "description": "dBTP; left out for silence.", "type": "number" },
                      "truePeakRange": { "description": "The sample that it is, or where it lies between two, the one before.", "$ref": "#/$defs/range" },
                      "samplePeak": { "description": "dBFS; left out for silence.", "type": "number" },
                      "samplePeakRange": { "description": "The first sample that it is.", "$ref": "#/$defs/range" },
                      "rms": { "description": "dBFS; left out for silence.", "type": "number" },
                      "dcOffset": { "description": "The mean of all samples, as a part of full scale.", "type": "number" }
                    },
                    "required": ["weight", "dcOffset"],
                    "additionalProperties": false
                  }
                },
                "pairs": {
                  "description": "Channels 1 and 2, 3 and 4, and so on.",
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "channels": { "description": "The two channels, from 0.", "type": "array", "items": { "type": "integer", "minimum": 0 } },
                      "correlation": { "description": "Of the whole: 1 for the same, -1 for the inverse; left out where one of the two is silent.", "type": "number", "minimum": -1, "maximum": 1 },
                      "lowest": {
                        "description": "The three seconds in which they are least alike; left out where none are loud and long enough, and where that was not asked for.",
                        "type": "object",
                        "properties": {
                          "correlation": { "type": "number", "minimum": -1, "maximum": 1 },
                          "start": { "$ref": "#/$defs/time" },
                          "end": { "$ref": "#/$defs/time" }
                        },
                        "required": ["correlation", "start", "end"],
                        "additionalProperties": false
                      },
                      "highestDifference": { "description": "The largest difference of two samples, as a part of full scale.", "type": "number", "minimum": 0 }
                    },
                    "required": ["channels", "highestDifference"],
                    "additionalProperties": false
                  }
                }
              },
              "required": ["sampleRate", "start", "duration", "channels", "pairs"],
              "additionalProperties": false
            },
            "scores": {
              "description": "A measure of all pictures.",
              "type": "object",
              "properties": {
                "luma": { "description": "Of luma, or the first component.", "type": "number" },
                "chroma": { "description": "Of each of the two others; none for pictures in grey.", "type": "array", "items": { "type": ["number", "null"] } },
                "all": { "description": "Of all components, by the number of their samples.", "type": "number" },
                "minimum": { "description": "Of the picture that differs most.", "type": "number" },
                "worst": { "description": "When that one is shown; left out where nothing differs.", "$ref": "#/$defs/time" },
                "worstEnd": { "description": "When the next one is.", "$ref": "#/$defs/time" },
                "worstFrame": { "description": "Its number, from 0.", "type": "integer", "minimum": 0 }
              },
              "required": ["chroma"],
              "additionalProperties": false
            },
            "loudest": {
              "type": "object",
              "properties": {
                "loudness": { "description": "LUFS.", "type": "number" },
                "start": { "description": "When the window begins.", "$ref": "#/$defs/time" },
                "end": { "description": "When it is over.", "$ref": "#/$defs/time" }
              },
              "required": ["loudness", "start", "end"],
              "additionalProperties": false
            },
            "pictures": {
              "description": "What was measured of a track's pictures.",
              "type": "object",
              "properties": {
                "count": { "description": "How many were decoded.", "type": "integer", "minimum": 0 },
                "start": { "description": "When the first one is shown.", "$ref": "#/$defs/time" },
                "lastStart": { "description": "When the last one is shown.", "$ref": "#/$defs/time" },
                "end": { "description": "When the last one is gone.", "$ref": "#/$defs/time" },
                "duplicates": { "description": "How many are the same as the one before, bit for bit; left out, as what follows, where that was not asked for.", "type": "integer", "minimum": 0 },
                "usualDuration": { "description": "How long most of them stay.", "$ref": "#/$defs/time" },
                "isVariable": { "description": "Whether some stay for other times than usual, by more than a tick.", "type": "boolean" },
                "missing": { "description": "How many would fit where one stays 1.5 times as long as usual or longer.", "type": "integer", "minimum": 0 },
                "firstMissing": { "description": "The first such place.", "$ref": "#/$defs/range" },
                "fields": {
                  "description": "What pictures look like that move enough to tell, beside what they are flagged as.",
                  "type": "object",
                  "properties": {
                    "interlaced": { "description": "Flagged interlaced, and looking so.", "type": "integer", "minimum": 0 },
                    "progressive": { "description": "Flagged progressive, and looking so.", "type": "integer", "minimum": 0 },
                    "hiddenInterlaced": { "description": "Flagged progressive, and looking interlaced.", "type": "integer", "minimum": 0 },
                    "hiddenProgressive": { "description": "Flagged interlaced, and looking progressive.", "type": "integer", "minimum": 0 },
                    "swapped": { "description": "Flagged interlaced with one field first, and looking as if it were the other.", "type": "integer", "minimum": 0 }
                  },
                  "required": ["interlaced", "progressive", "hiddenInterlaced", "hiddenProgressive", "swapped"],
                  "additionalProperties": false
                },
                "size": {
                  "description": "The size of the first one.",
                  "type": "object",
                  "properties": {
                    "width": { "type": "integer" },
                    "height": { "type": "integer" }
                  },
                  "required": ["width", "height"],
                  "additionalProperties": false
                },
                "sizeChanges": { "description": "How often the size changes.", "type": "integer", "minimum": 0 },
                "illegalLuma": { "description": "The greatest part of a picture's luma that EBU R 103 does not allow; left out for full range and RGB.", "type": "number", "minimum": 0, "maximum": 1 },
                "illegalColor": { "description": "The greatest part of a picture's colours that EBU R 103 does not allow, on a grid; left out for full range and RGB.", "type": "number", "minimum": 0, "maximum": 1 },
                "bars": {
                  "description": "Dark rows and columns at the edges of all pictures that were looked at; left out where these are dark as a whole.",
                  "type": "object",
                  "properties": {
                    "top": { "type": "integer", "minimum": 0 },
                    "bottom": { "type": "integer", "minimum": 0 },
                    "left": { "type": "integer", "minimum": 0 },
                    "right": { "type": "integer", "minimum": 0 }
                  },
                  "required": ["top", "bottom", "left", "right"],
                  "additionalProperties": false
                }
              },
              "required": ["count", "sizeChanges"],
              "additionalProperties": false
            },
            "range": {
              "type": "object",
              "properties": {
                "start": { "description": "The first moment.", "$ref": "#/$defs/time" },
                "end": { "description": "The first moment that is not part of it.", "$ref": "#/$defs/time" }
              },
              "required": ["start", "end"],
              "additionalProperties": false
            },
            "runs": {
              "description": "What a check found in one track, or in one channel of it.",
              "type": "object",
              "properties": {
                "check": { "description": "The check's name.", "type": "string" },
                "threshold": { "description": "From where on it counts.", "type": "number" },
                "minimumDuration": { "description": "How long a run lasts at least, in seconds.", "type": "number", "minimum": 0 },
                "channel": { "description": "The channel, from 0; left out for a check of all channels or of pictures.", "type": "integer", "minimum": 0 },
                "count": { "description": "How many there are, with those that are not listed.", "type": "integer", "minimum": 0 },
                "total": { "description": "How long they are together.", "$ref": "#/$defs/time" },
                "ranges": {
                  "description": "Each run; as many as --findings says.",
                  "type": "array",
                  "items": { "$ref": "#/$defs/range" }
                }
              },
              "required": ["check", "threshold", "minimumDuration", "count", "total", "ranges"],
              "additionalProperties": false
            },
            "failedFile": \#(SchemaParts.failedFile),
            "schemaVersion": \#(SchemaParts.schemaVersion),
            "path": \#(SchemaParts.path),
            "pathBytes": \#(SchemaParts.pathBytes),
            "damage": \#(SchemaParts.damage),
            "time": \#(SchemaParts.time),
            "error": \#(SchemaParts.error)
          }
        }

        """#
}
