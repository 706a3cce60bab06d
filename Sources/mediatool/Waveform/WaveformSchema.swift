/// `docs/schema/waveform.json`, the JSON Schema of what `waveform` prints, as text; a test holds both equal.
enum WaveformSchema {
    // A string in the program, because a program of one file has no place to keep documents in.
    // swift-format-ignore
    static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "mediatool waveform",
          "description": "What mediatool waveform --json prints for one file; several files give an array of these, --jsonl one a line.",
          "type": "object",
          "oneOf": [{ "$ref": "#/$defs/report" }, { "$ref": "#/$defs/peaksReport" }, { "$ref": "#/$defs/failedFile" }],
          "$defs": {
            "report": {
              "description": "Sound that was measured.",
              "type": "object",
              "properties": {
                "schemaVersion": { "$ref": "#/$defs/schemaVersion" },
                "path": { "$ref": "#/$defs/path" },
                "pathBytes": { "$ref": "#/$defs/pathBytes" },
                "trackIndex": { "description": "The track that was read, by its place in the container.", "type": "integer", "minimum": 0 },
                "trackID": { "description": "The container's own number of the track.", "type": "integer" },
                "sampleRate": { "description": "Samples a second and channel, as decoded; a header may say another rate.", "type": "integer", "minimum": 1 },
                "channelLayout": { "description": "Which channels were decoded, by libavutil's name, such as stereo or 5.1(side).", "type": "string" },
                "requested": { "description": "The range asked for, in exact times; absent where none was.", "$ref": "#/$defs/range" },
                "start": { "description": "When the first sample sounds, on the presentation's time line.", "$ref": "#/$defs/time" },
                "duration": { "description": "How long what was measured lasts; exact.", "$ref": "#/$defs/time" },
                "samples": { "description": "Samples in each channel.", "type": "integer", "minimum": 0 },
                "cutBeforeZero": { "description": "Samples before time 0 that were left out: the encoder's priming, and what an edit list does not show. Absent where reading began later.", "type": "integer", "minimum": 0 },
                "lateStart": { "description": "Samples of silence that stand for a track that starts late.", "type": "integer", "minimum": 0 },
                "holes": { "description": "Samples of silence that stand for holes in the track.", "type": "integer", "minimum": 0 },
                "outputs": { "description": "The outputs in the order asked for.", "type": "array", "items": { "$ref": "#/$defs/output" } },
                "channels": {
                  "description": "Each channel of the sound, also where peaks are mixed.",
                  "type": "array",
                  "items": {
                    "description": "One channel.",
                    "type": "object",
                    "properties": {
                      "peakDBFS": { "description": "The largest magnitude in dB, of which 0 is full scale; null for silence.", "type": ["number", "null"] },
                      "rmsDBFS": { "description": "The root mean square over all samples in dB, of which 0 is a full-scale square wave; null for silence.", "type": ["number", "null"] },
                      "clippedSamples": { "description": "Samples at full scale before the conversion to 16 bits.", "type": "integer", "minimum": 0 }
                    },
                    "required": ["peakDBFS", "rmsDBFS", "clippedSamples"],
                    "additionalProperties": false
                  }
                },
                "damage": { "description": "What of the file could not be used.", "$ref": "#/$defs/damage" }
              },
              "required": ["schemaVersion", "path", "trackIndex", "trackID", "sampleRate", "start", "duration", "samples", "lateStart", "holes", "outputs", "channels", "damage"],
              "additionalProperties": false
            },
            "peaksReport": {
              "description": "A peaks file that was read.",
              "type": "object",
              "properties": {
                "schemaVersion": { "$ref": "#/$defs/schemaVersion" },
                "path": { "$ref": "#/$defs/path" },
                "pathBytes": { "$ref": "#/$defs/pathBytes" },
                "peaksFile": {
                  "description": "The file as it is.",
                  "type": "object",
                  "properties": {
                    "format": { "description": "Its form; peaksjs is a dat of 8 bits.", "enum": ["dat", "json", "peaksjs"] },
                    "bits": { "description": "Bits of a value.", "enum": [8, 16] },
                    "samplesPerPixel": { "description": "Samples in a point.", "type": "integer", "minimum": 2 },
                    "points": { "description": "Its points.", "type": "integer", "minimum": 0 },
                    "channels": { "description": "Its channels.", "type": "integer", "minimum": 1, "maximum": 24 }
                  },
                  "required": ["format", "bits", "samplesPerPixel", "points", "channels"],
                  "additionalProperties": false
                },
                "sampleRate": { "description": "Samples a second and channel of the sound that was measured.", "type": "integer", "minimum": 1 },
                "requested": { "description": "The range asked for, in exact times; absent where none was.", "$ref": "#/$defs/range" },
                "start": { "description": "When the first point begins.", "$ref": "#/$defs/time" },
                "duration": { "description": "How much the points cover: up to a point more than the sound, whose length the file does not say.", "$ref": "#/$defs/time" },
                "outputs": { "description": "The outputs in the order asked for.", "type": "array", "items": { "$ref": "#/$defs/output" } },
                "channels": {
                  "description": "Each channel of the peaks that were read.",
                  "type": "array",
                  "items": {
                    "description": "One channel.",
                    "type": "object",
                    "properties": {
                      "peakDBFS": { "description": "The largest magnitude in dB, of which 0 is full scale; null for silence.", "type": ["number", "null"] }
                    },
                    "required": ["peakDBFS"],
                    "additionalProperties": false
                  }
                }
              },
              "required": ["schemaVersion", "path", "peaksFile", "sampleRate", "start", "duration", "outputs", "channels"],
              "additionalProperties": false
            },
            "output": {
              "description": "One output: what was written, or error.",
              "type": "object",
              "properties": {
                "file": { "description": "The output as it was named; what is not UTF-8 is repaired.", "type": "string" },
                "fileBytes": { "description": "The bytes of file in base64, where they are not UTF-8.", "type": "string", "contentEncoding": "base64" },
                "format": { "description": "What kind of file it is; peaksjs is a dat of 8 bits.", "enum": ["dat", "json", "peaksjs", "wavesurfer", "csv", "txt", "png", "svg"] },
                "bits": { "description": "Bits of a value in dat, json, peaksjs, csv and txt.", "enum": [8, 16] },
                "samplesPerPixel": { "description": "Samples that a point or a column of pixels covers; a fraction is rounded. Absent for a picture wider than there are samples.", "type": "number", "minimum": 1 },
                "pixelsPerSecond": { "description": "Points, or columns of pixels, a second: exactly what the file has.", "$ref": "#/$defs/rational" },
                "requestedPixelsPerSecond": { "description": "What --pixels-per-second asked for; a dat or json has a whole number of samples a point, and so may have more.", "$ref": "#/$defs/rational" },
                "points": { "description": "Points, each with a minimum and a maximum a channel; absent in pictures.", "type": "integer", "minimum": 0 },
                "width": { "description": "Pixels across, in a picture.", "type": "integer", "minimum": 1 },
                "height": { "description": "Pixels down, in a picture.", "type": "integer", "minimum": 1 },
                "channels": { "description": "Channels that the output shows; 1 where they are mixed.", "type": "integer", "minimum": 1 },
                "error": { "$ref": "#/$defs/error" }
              },
              "required": ["file", "format"],
              "additionalProperties": false
            },
            "range": {
              "type": "object",
              "properties": {
                "start": { "description": "The first moment; absent where --start was not given.", "$ref": "#/$defs/time" },
                "end": { "description": "The first moment that is not wanted; absent where --end was not given, or is end.", "$ref": "#/$defs/time" }
              },
              "required": [],
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
