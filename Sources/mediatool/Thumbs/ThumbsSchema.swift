/// `docs/schema/thumbs.json`, the JSON Schema of what `thumbs` prints, as text; a test holds both equal.
enum ThumbsSchema {
    // A string in the program, because a program of one file has no place to keep documents in.
    // swift-format-ignore
    static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "mediatool thumbs",
          "description": "What `mediatool thumbs --json` prints for one file. Several files give an array of such objects, and --jsonl one of them a line.",
          "oneOf": [{ "$ref": "#/$defs/manifest" }, { "$ref": "#/$defs/failedFile" }],
          "$defs": {
            "manifest": {
              "description": "A file of which images were asked for.",
              "type": "object",
              "properties": {
                "schemaVersion": { "$ref": "#/$defs/schemaVersion" },
                "path": { "$ref": "#/$defs/path" },
                "pathBytes": { "$ref": "#/$defs/pathBytes" },
                "trackIndex": { "description": "The track that is shown: its place in the container, as probe prints it.", "type": "integer", "minimum": 0 },
                "trackID": { "description": "The container's own number of that track.", "type": "integer" },
                "vtt": { "description": "The path of the WebVTT index as it was written; absent where none was.", "type": "string" },
                "vttBytes": { "description": "The bytes of that path in base64, where it is not UTF-8.", "type": "string", "contentEncoding": "base64" },
                "images": {
                  "description": "One answer for every time asked for, in the order asked; a time asked for twice has two.",
                  "type": "array",
                  "items": { "oneOf": [{ "$ref": "#/$defs/image" }, { "$ref": "#/$defs/failedImage" }] }
                },
                "errors": {
                  "description": "What failed beyond single images, such as the index; absent where nothing did.",
                  "type": "array",
                  "items": { "$ref": "#/$defs/error" },
                  "minItems": 1
                },
                "damage": { "description": "What was damaged on the way to the images; absent where nothing was.", "$ref": "#/$defs/damage" }
              },
              "required": ["schemaVersion", "path", "trackIndex", "trackID", "images"],
              "additionalProperties": false
            },
            "image": {
              "description": "An image that was written.",
              "type": "object",
              "properties": {
                "requested": { "description": "The time asked for.", "$ref": "#/$defs/time" },
                "actual": { "description": "The presentation time of the picture that is shown.", "$ref": "#/$defs/time" },
                "duration": { "description": "How long that picture is on screen: until the next one in presentation order, or the track's end.", "$ref": "#/$defs/time" },
                "file": { "description": "The path of the single image as it was written, relative to the current folder unless an absolute one was named; absent where there are only sheets.", "type": "string" },
                "fileBytes": { "description": "The bytes of that path in base64, where it is not UTF-8.", "type": "string", "contentEncoding": "base64" },
                "width": { "description": "The image's width in pixels.", "type": "integer", "minimum": 1 },
                "height": { "description": "The image's height in pixels.", "type": "integer", "minimum": 1 },
                "keyframe": { "description": "Whether the picture came from a sync sample.", "type": "boolean" },
                "sheet": { "$ref": "#/$defs/sheet" }
              },
              "required": ["requested", "actual", "duration", "width", "height", "keyframe"],
              "anyOf": [{ "required": ["file"] }, { "required": ["sheet"] }],
              "additionalProperties": false
            },
            "sheet": {
              "description": "Where the image lies on a sheet, in pixels from the sheet's top left corner.",
              "type": "object",
              "properties": {
                "file": { "description": "The path of the sheet as it was written.", "type": "string" },
                "fileBytes": { "description": "The bytes of that path in base64, where it is not UTF-8.", "type": "string", "contentEncoding": "base64" },
                "x": { "description": "The image's left edge.", "type": "integer", "minimum": 0 },
                "y": { "description": "The image's upper edge.", "type": "integer", "minimum": 0 },
                "width": { "description": "The width of the image's place.", "type": "integer", "minimum": 1 },
                "height": { "description": "The height of the image's place.", "type": "integer", "minimum": 1 }
              },
              "required": ["file", "x", "y", "width", "height"],
              "additionalProperties": false
            },
            "failedImage": {
              "description": "A time for which there is no image.",
              "type": "object",
              "properties": {
                "requested": { "description": "The time asked for; flagged invalid where the file has no such time, as for a frame number beyond the last.", "$ref": "#/$defs/time" },
                "requestedText": { "description": "The time as it was written, where the file has no such time.", "type": "string" },
                "error": { "$ref": "#/$defs/error" }
              },
              "required": ["requested", "error"],
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
