/// The definitions of ``ProbeSchema`` that are about one track, indented as they stand under `$defs`.
// swift-format-ignore
enum ProbeTrackSchema {
    /// `$defs/track`.
    static let track = #"""
        {
              "description": "One track.",
              "type": "object",
              "properties": {
                "id": { "description": "The container's own number of it: the track ID, PID or stream number; left out where Matroska's track list could not be read.", "type": "integer" },
                "index": { "description": "Its place in the container, from 0; how other commands name it.", "type": "integer", "minimum": 0 },
                "type": { "description": "What it carries.", "enum": ["video", "audio", "subtitle", "timecode", "data", "attachment"] },
                "codec": { "description": "libavcodec's name of the codec.", "type": "string" },
                "codecTag": { "description": "The four characters by which the container names the codec, or its number for it, such as 0x0055.", "type": "string" },
                "profile": { "description": "The codec's profile.", "type": "string" },
                "level": { "description": "The level as the codec numbers it: H.264 level 4.1 is 41, HEVC level 4.1 is 123.", "type": "integer" },
                "levelName": { "description": "The level as people write it, such as 4.1; of H.264, HEVC, AV1, VP9 and MPEG-2.", "type": "string" },
                "language": { "description": "The language, mostly as ISO 639-2 code; und where the file says that it is undetermined.", "type": "string" },
                "enabled": { "description": "Whether the track is meant to be used; of ISO and QuickTime files.", "type": "boolean" },
                "dispositions": { "description": "Roles such as default, forced or attached_pic, by libavformat's names.", "type": "array", "items": { "type": "string" } },
                "bitRate": { "description": "Bits a second.", "type": "integer" },
                "maximumBitRate": { "description": "The most bits in any second (btrt).", "type": "integer" },
                "timeRange": { "description": "From the first sample to the end on the presentation's time line.", "$ref": "#/$defs/timeRange" },
                "mediaDuration": { "description": "How long the stored media is, before any edits.", "$ref": "#/$defs/time" },
                "timeScale": { "description": "Ticks a second of the clock that the samples' times are counted by, such as 90000 in a transport stream.", "type": "integer", "minimum": 1 },
                "sampleCount": { "description": "How many samples there are; for video, frames.", "type": "integer", "minimum": 0 },
                "editList": {
                  "description": "The edits (elst) of an ISO or QuickTime file; left out where the media plays from its start to its end.",
                  "type": "array",
                  "items": { "$ref": "#/$defs/edit" }
                },
                "associatedTracks": {
                  "description": "The ids of the tracks that this one refers to, by the kind of reference (tref) such as chap or tmcd.",
                  "type": "object",
                  "additionalProperties": { "type": "array", "items": { "type": "integer" } }
                },
                "timecode": {
                  "description": "The timecode of the track's first frame.",
                  "type": "object",
                  "properties": {
                    "start": { "description": "HH:MM:SS:FF, or HH:MM:SS;FF where it is drop-frame.", "type": "string" },
                    "dropFrame": { "description": "Whether some numbers are left out so that timecode keeps up with the clock.", "type": "boolean" },
                    "source": { "description": "Where it is from: track for a timecode track's own sample, metadata for all else, such as a video track that refers to one.", "enum": ["track", "metadata"] },
                    "frameNumber": { "description": "Frames since 00:00:00:00, as a timecode track counts them.", "type": "integer" },
                    "frameDuration": { "description": "How long a frame of a timecode track lasts.", "$ref": "#/$defs/time" },
                    "framesPerSecond": { "description": "The numbers in a second of timecode: 30 at 29.97 frames a second.", "type": "integer" },
                    "reel": { "description": "The reel or source that a timecode track names.", "type": "string" }
                  },
                  "required": ["start", "dropFrame", "source"],
                  "additionalProperties": false
                },
                "formats": {
                  "description": "All formats that the samples may have, in the container's order; left out where there is one.",
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "codec": { "description": "libavcodec's name of the codec.", "type": "string" },
                      "codecTag": { "description": "How the container names the codec.", "type": "string" },
                      "encodedSize": { "description": "The stored picture.", "$ref": "#/$defs/size" },
                      "cleanAperture": { "description": "What the container wants to be seen.", "$ref": "#/$defs/cleanAperture" },
                      "sampleRate": { "description": "Samples a second and channel.", "type": "integer" },
                      "channels": { "description": "How many channels there are.", "type": "integer" }
                    },
                    "additionalProperties": false
                  }
                },
                "video": { "description": "The pictures of a video track.", "$ref": "#/$defs/video" },
                "audio": { "description": "The sound of an audio track.", "$ref": "#/$defs/audio" },
                "scan": {
                  "description": "What reading all packets showed; only with --scan.",
                  "type": "object",
                  "properties": {
                    "packetCount": { "description": "How many packets there are, those included that an edit list hides.", "type": "integer", "minimum": 0 },
                    "frameCount": { "description": "How many frames of video those are: fewer where some packets hold one field only. Lengths of frames and distances are then those of packets.", "type": "integer", "minimum": 0 },
                    "sizeBytes": { "description": "Their bytes.", "type": "integer", "minimum": 0 },
                    "corruptCount": { "description": "How many of them the demuxer found damaged.", "type": "integer", "minimum": 0 },
                    "timeRange": { "description": "From the first presentation to the end of the last, samples before time 0 included.", "$ref": "#/$defs/timeRange" },
                    "frameDuration": { "description": "How long frames are on screen: from one presentation to the next, the last for its own duration.", "$ref": "#/$defs/spread" },
                    "keyframes": {
                      "description": "Where decoding of a video track can start.",
                      "type": "object",
                      "properties": {
                        "count": { "description": "How many there are.", "type": "integer" },
                        "spacing": { "description": "The time from one to the next.", "$ref": "#/$defs/spread" },
                        "minimumFrames": { "description": "The fewest frames from one to the next.", "type": "integer" },
                        "maximumFrames": { "description": "The most frames from one to the next.", "type": "integer" }
                      },
                      "required": ["count"],
                      "additionalProperties": false
                    },
                    "bitRate": {
                      "description": "Bits a second over time.",
                      "type": "object",
                      "properties": {
                        "average": { "description": "Over the whole track.", "type": "integer" },
                        "maximum": { "description": "In the fullest stretch.", "type": "integer" },
                        "intervalSeconds": { "description": "How long a stretch is; at most 1000 stretches are told.", "type": "integer" },
                        "values": { "description": "In each stretch from time 0; the last one ends with the track.", "type": "array", "items": { "type": "integer" } }
                      },
                      "required": ["average", "maximum", "intervalSeconds", "values"],
                      "additionalProperties": false
                    },
                    "gaps": {
                      "description": "The first hundred stretches in which nothing is presented: a whole frame or more of video, more than 10 ms of audio.",
                      "type": "array",
                      "items": { "$ref": "#/$defs/timeRange" }
                    },
                    "gapCount": { "description": "How many such stretches there are.", "type": "integer", "minimum": 0 }
                  },
                  "required": ["packetCount", "sizeBytes", "corruptCount", "gaps", "gapCount"],
                  "additionalProperties": false
                },
                "metadata": { "description": "The track's own metadata, in its order.", "type": "array", "items": { "$ref": "#/$defs/metadataItem" } }
              },
              "required": ["index", "type", "dispositions", "timeRange", "metadata"],
              "additionalProperties": false
            }
        """#

    /// `$defs/video`.
    static let video = #"""
        {
              "description": "What is known of a track's pictures.",
              "type": "object",
              "properties": {
                "encodedSize": { "description": "The stored picture.", "$ref": "#/$defs/size" },
                "productionSize": { "description": "The stored picture with square pixels: the width by the pixel aspect, rounded half up; pixels of unknown shape count as square.", "$ref": "#/$defs/size" },
                "cleanApertureSize": { "description": "The clean aperture, as far as it lies inside the stored picture, with square pixels, each side rounded half up; without a clean aperture the same as productionSize.", "$ref": "#/$defs/size" },
                "displaySize": { "description": "The picture as it is shown: clean aperture, square pixels, turned by the display matrix.", "$ref": "#/$defs/size" },
                "sampleAspectRatio": { "description": "Width of a pixel by its height.", "$ref": "#/$defs/rational" },
                "displayAspectRatio": { "description": "Width of the shown picture (the clean aperture) by its height, before it is turned, exact.", "$ref": "#/$defs/rational" },
                "cleanAperture": { "description": "What the container wants to be seen. Left out where that is all of the picture.", "$ref": "#/$defs/cleanAperture" },
                "trackAperture": {
                  "description": "The sizes that QuickTime keeps for a track (tapt), before its matrix.",
                  "type": "object",
                  "properties": {
                    "clean": { "description": "Cropped to the clean aperture, square pixels (clef).", "$ref": "#/$defs/exactSize" },
                    "production": { "description": "The whole picture with square pixels (prof).", "$ref": "#/$defs/exactSize" },
                    "encoded": { "description": "The whole picture in stored pixels (enof).", "$ref": "#/$defs/exactSize" }
                  },
                  "additionalProperties": false
                },
                "displayMatrix": {
                  "description": "The nine numbers of the matrix, a b u c d v x y w: the point (p, q) lands at (a p + c q + x, b p + d q + y).",
                  "type": "array",
                  "items": { "type": "number" },
                  "minItems": 9,
                  "maxItems": 9
                },
                "rotation": { "description": "How far the picture is turned clockwise for display, in degrees; left out for a matrix that is no quarter turn.", "enum": [0, 90, 180, 270] },
                "mirrored": { "description": "Whether the picture is flipped left to right before it is turned.", "type": "boolean" },
                "frameRate": {
                  "description": "Frames a second.",
                  "type": "object",
                  "properties": {
                    "nominal": { "description": "The rate that the container states, or the codec; where neither does, the lowest on whose clock the first frames lie.", "$ref": "#/$defs/rational" },
                    "average": { "description": "Averaged over the track.", "$ref": "#/$defs/rational" },
                    "mode": { "description": "Whether all frames but the last last equally long; left out where only reading all packets would tell.", "enum": ["constant", "variable"] },
                    "isEstimate": { "description": "Present where neither the container nor the codec states the rate, so that it is supposed by the first time stamps; --scan measures it.", "const": true }
                  },
                  "additionalProperties": false
                },
                "minimumFrameDuration": { "description": "The shortest time from one frame to the next, by an ISO or QuickTime file's tables or by --scan; left out where neither tells.", "$ref": "#/$defs/time" },
                "containerDisplay": {
                  "description": "The size in which Matroska wants the cropped pictures to be shown.",
                  "type": "object",
                  "properties": {
                    "width": { "description": "Across.", "type": "integer" },
                    "height": { "description": "Down.", "type": "integer" },
                    "unit": { "description": "What width and height count.", "enum": ["pixels", "centimeters", "inches", "aspectRatio", "unknown"] }
                  },
                  "required": ["width", "height", "unit"],
                  "additionalProperties": false
                },
                "fieldOrder": { "description": "The order in which a frame's fields are stored, then shown: top or bottom first; by the pictures, else the container, else libavformat.", "enum": ["progressive", "tt", "bb", "tb", "bt"] },
                "fields": {
                  "description": "Who says what of fields: progressive, tt (top field first), bb, or interlaced where the order is not told.",
                  "type": "object",
                  "properties": {
                    "container": { "description": "What the container says: fiel in QuickTime, FieldOrder in Matroska.", "enum": ["progressive", "tt", "bb"] },
                    "stream": { "description": "What the coded pictures' headers say.", "enum": ["progressive", "interlaced", "tt", "bb"] },
                    "conflict": { "description": "Whether both name something and disagree.", "type": "boolean" }
                  },
                  "additionalProperties": false
                },
                "pixelFormat": { "description": "libavutil's name of how the decoder's pixels are stored.", "type": "string" },
                "bitDepth": { "description": "Significant bits of a component.", "type": "integer" },
                "chromaSubsampling": { "description": "How many chroma samples there are for luma samples, by the pictures' headers, else by the pixel format.", "enum": ["4:0:0", "4:1:0", "4:1:1", "4:2:0", "4:2:2", "4:4:0", "4:4:4"] },
                "color": {
                  "description": "What the numbers of colours mean, by the names of libavutil for the code points of ITU-T H.273.",
                  "type": "object",
                  "properties": {
                    "container": { "description": "What the container says apart from the coded pictures: colr of ISO and QuickTime files, Colour of Matroska.", "$ref": "#/$defs/colors" },
                    "stream": { "description": "What the headers of the coded pictures say, of H.264, HEVC, AV1, VP9, MPEG-1 and MPEG-2; of other codecs libavformat's word where the container has none.", "$ref": "#/$defs/colors" },
                    "effective": { "description": "What a decoder goes by, as libavformat works it out of both.", "$ref": "#/$defs/colors" },
                    "conflict": { "description": "Whether container and stream name something and disagree.", "type": "boolean" }
                  },
                  "additionalProperties": false
                },
                "gamma": { "description": "The exponent of the transfer function (gama) of a QuickTime file.", "$ref": "#/$defs/rational" },
                "hdr": {
                  "description": "What HDR metadata there is.",
                  "type": "object",
                  "properties": {
                    "transferFamily": { "description": "The family that the transfer characteristic tells.", "enum": ["PQ", "HLG"] },
                    "masteringDisplay": {
                      "description": "The display on which the picture was graded, SMPTE ST 2086.",
                      "type": "object",
                      "properties": {
                        "red": { "description": "CIE 1931 x and y of red.", "type": "array", "items": { "$ref": "#/$defs/rational" }, "minItems": 2, "maxItems": 2 },
                        "green": {
                          "description": "CIE 1931 x and y of green.",
                          "type": "array",
                          "items": { "$ref": "#/$defs/rational" },
                          "minItems": 2,
                          "maxItems": 2
                        },
                        "blue": { "description": "CIE 1931 x and y of blue.", "type": "array", "items": { "$ref": "#/$defs/rational" }, "minItems": 2, "maxItems": 2 },
                        "whitePoint": {
                          "description": "CIE 1931 x and y of the white point.",
                          "type": "array",
                          "items": { "$ref": "#/$defs/rational" },
                          "minItems": 2,
                          "maxItems": 2
                        },
                        "minimumLuminance": { "description": "The darkest level, in cd/m².", "$ref": "#/$defs/rational" },
                        "maximumLuminance": { "description": "The brightest level, in cd/m².", "$ref": "#/$defs/rational" }
                      },
                      "additionalProperties": false
                    },
                    "contentLightLevel": {
                      "description": "How bright the content gets, CTA-861.3.",
                      "type": "object",
                      "properties": {
                        "maximum": { "description": "The brightest pixel (MaxCLL), in cd/m².", "type": "integer" },
                        "maximumFrameAverage": { "description": "The brightest frame average (MaxFALL), in cd/m².", "type": "integer" }
                      },
                      "required": ["maximum", "maximumFrameAverage"],
                      "additionalProperties": false
                    },
                    "hdr10Plus": { "description": "Whether there is dynamic metadata of SMPTE ST 2094-40.", "type": "boolean" },
                    "dolbyVision": {
                      "description": "The Dolby Vision configuration record (dvcC, dvvC).",
                      "type": "object",
                      "properties": {
                        "profile": { "description": "The profile.", "type": "integer" },
                        "level": { "description": "The level.", "type": "integer" },
                        "layers": { "description": "Which layers are present.", "type": "array", "items": { "enum": ["base", "enhancement", "metadata"] } },
                        "compatibility": { "description": "What the base layer alone is: 0 nothing, 1 HDR10, 2 SDR, 4 HLG.", "type": "integer" }
                      },
                      "required": ["profile", "level", "layers", "compatibility"],
                      "additionalProperties": false
                    }
                  },
                  "additionalProperties": false
                }
              },
              "required": ["encodedSize", "productionSize", "cleanApertureSize", "displaySize"],
              "additionalProperties": false
            }
        """#

    /// `$defs/audio`.
    static let audio = #"""
        {
              "description": "What is known of a track's sound.",
              "type": "object",
              "properties": {
                "sampleRate": { "description": "Samples a second and channel.", "type": "integer" },
                "channels": { "description": "How many channels there are.", "type": "integer" },
                "channelLayout": { "description": "Which loudspeakers the channels are for, as libavutil describes it, or its names of them in stored order, such as FC+FL+FR; left out where only their number is known.", "type": "string" },
                "sampleFormat": { "description": "libavutil's name of what the decoder yields; a p at its end means a plane for each channel.", "type": "string" },
                "bitsPerSample": { "description": "Significant bits of a stored sample; left out for codecs that have none.", "type": "integer" },
                "priming": { "description": "Samples before the first real one, that the presentation cuts, as the edit list, the codec's header, the LAME tag (with the decoder's 529) or iTunSMPB says.", "type": "integer" },
                "remainder": { "description": "Samples after the last real one, that the presentation cuts, likewise.", "type": "integer" }
              },
              "additionalProperties": false
            }
        """#

    /// `$defs/colors`.
    static let colors = #"""
        {
              "description": "Colour by its parts.",
              "type": "object",
              "properties": {
                "primaries": { "description": "Chromaticities of red, green, blue and white, such as bt709.", "type": "string" },
                "transfer": { "description": "The transfer characteristic, such as smpte2084 (PQ) or arib-std-b67 (HLG).", "type": "string" },
                "matrix": { "description": "The matrix between RGB and luma with chroma, such as bt2020nc.", "type": "string" },
                "range": { "description": "tv for limited, pc for full range.", "enum": ["tv", "pc"] },
                "chromaLocation": { "description": "Where chroma samples lie against luma samples, such as left.", "type": "string" }
              },
              "additionalProperties": false
            }
        """#

    /// `$defs/edit`.
    static let edit = #"""
        {
              "description": "For how long which part of the media plays, and how fast.",
              "type": "object",
              "properties": {
                "segmentDuration": { "description": "How long it lasts in the presentation; 0 in a fragmented file means to the end.", "$ref": "#/$defs/time" },
                "mediaTime": {
                  "description": "Where in the media it begins; null for an empty edit, during which nothing is shown.",
                  "oneOf": [{ "$ref": "#/$defs/time" }, { "type": "null" }]
                },
                "rate": { "description": "The speed; 1 is normal.", "type": "number" }
              },
              "required": ["mediaTime", "rate"],
              "additionalProperties": false
            }
        """#
}
