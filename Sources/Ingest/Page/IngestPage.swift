package import MediaBase
package import Peaks

/// Everything that the page of an ingested file shows; ``html()`` makes one self-contained HTML file of it.
///
/// Texts may be foreign: whatever they hold is shown as text. References are relative to the page and percent-encoded
/// (RFC 3986); others are not followed. Times are those of the presentation.
package struct IngestPage: Sendable {
    /// The title of the page, such as the file's own title.
    package var title: String
    /// The name of the file.
    package var fileName: String
    /// The time at which the time line, the proxy and the counting of frames start.
    package var start = MediaTime.zero
    /// The length of the time line.
    package var duration: MediaTime
    /// The constant frame rate; `nil` without video or if frames last unequally.
    ///
    /// Without it, times are shown as a clock, and the arrow keys move by 1/30 second.
    package var frameRate: Rational?
    /// The timecode of the frame at ``start``, with `;` before the frames for drop-frame; `nil` counts from 00:00:00:00.
    package var startTimecode: String?
    /// The media that the page plays; without it, the page shows the sprite's pictures.
    package var proxy: Proxy?
    /// The reference to the poster.
    package var poster: String?
    /// The pictures for the times under the pointer, in order of time.
    package var cues: [Cue] = []
    /// The waveforms, from top to bottom.
    package var sound: [Sound] = []
    /// The findings of quality control, in any order.
    package var findings: [Finding] = []
    /// The chapters in order of time.
    package var chapters: [Chapter] = []
    /// The times at which scenes change, in order.
    package var sceneChanges: [MediaTime] = []
    /// The details of the file and its tracks.
    package var metadata: [Section] = []
    /// The verdict of the policy; `nil` if none was asked.
    package var verdict: Verdict?
    /// The name of the policy.
    package var policy: String?
    /// The loudness of each audio track.
    package var loudness: [Loudness] = []
    /// The warnings about the file, as sentences.
    package var warnings: [String] = []
    /// The outputs that were not made.
    package var leftOut: [LeftOut] = []

    /// Makes a page that shows a name and a duration, to which the rest is added.
    package init(title: String, fileName: String, duration: MediaTime) {
        self.title = title
        self.fileName = fileName
        self.duration = duration
    }
}

extension IngestPage {
    /// The result of a policy, and the severity of a finding.
    package enum Verdict: String, Encodable, Sendable, CaseIterable {
        case pass, warn, fail
    }

    /// The media that the page plays; its time zero is the page's ``IngestPage/start``.
    package struct Proxy: Encodable, Sendable {
        /// The reference to the file.
        package var reference: String
        /// The kind of the media.
        package var kind: Kind

        /// The kinds of media that a page plays.
        package enum Kind: String, Encodable, Sendable {
            case video, audio
        }

        /// Creates a proxy from its parts.
        package init(reference: String, kind: Kind) {
            self.reference = reference
            self.kind = kind
        }
    }

    /// A part of a sheet of pictures, and the times for which it is shown.
    package struct Cue: Sendable {
        /// The start time, and the end time, which is not part of the cue.
        package var start, end: MediaTime
        /// The reference to the sheet, without `#xywh=`.
        package var sheet: String
        /// The left and top edge of the picture in the sheet, and its size, in pixels.
        package var x, y, width, height: Int

        /// Creates a cue from its parts.
        package init(start: MediaTime, end: MediaTime, sheet: String, x: Int, y: Int, width: Int, height: Int) {
            (self.start, self.end, self.sheet) = (start, end, sheet)
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }
    }

    /// The waveform of a track, or of a mix of all.
    package struct Sound: Sendable {
        /// The name that is shown if there are several waveforms.
        package var name: String
        /// The peaks; what is finer than a page has room for is made coarser.
        package var peaks: Peaks
        /// The presentation time of the first point.
        package var start: MediaTime

        /// Creates a waveform from its parts.
        package init(name: String, peaks: Peaks, start: MediaTime = .zero) {
            self.name = name
            self.peaks = peaks
            self.start = start
        }
    }

    /// A finding of quality control.
    package struct Finding: Sendable {
        /// The start time; `nil` for the whole file or track.
        package var start: MediaTime?
        /// The end time; `nil` for a moment.
        package var end: MediaTime?
        /// The rule's id.
        package var rule: String
        /// The severity.
        package var severity: Verdict
        /// The finding as a sentence.
        package var message: String
        /// The index of the track; `nil` for the file as a whole.
        package var track: Int?

        /// Creates a finding from its parts.
        package init(
            start: MediaTime?, end: MediaTime? = nil, rule: String, severity: Verdict, message: String,
            track: Int? = nil
        ) {
            (self.start, self.end, self.rule) = (start, end, rule)
            (self.severity, self.message, self.track) = (severity, message, track)
        }
    }

    /// A chapter of the file.
    package struct Chapter: Sendable {
        /// The start time.
        package var start: MediaTime
        /// The end time; `nil` for the start of the next chapter, or the end of the file.
        package var end: MediaTime?
        /// The title, which may be empty.
        package var title: String

        /// Creates a chapter from its parts.
        package init(start: MediaTime, end: MediaTime? = nil, title: String) {
            self.start = start
            self.end = end
            self.title = title
        }
    }

    /// A heading and rows of names and values under it.
    package struct Section: Sendable {
        /// The heading.
        package var title: String
        /// The rows in order.
        package var rows: [(key: String, value: String)]

        /// Creates a section from its parts.
        package init(title: String, rows: [(key: String, value: String)]) {
            self.title = title
            self.rows = rows
        }
    }

    /// The loudness of an audio track (EBU Tech 3341); −∞ is silence, and `nil` what was not measured.
    package struct Loudness: Encodable, Sendable {
        /// The name of the track.
        package var track: String
        /// The programme loudness in LUFS.
        package var integrated: Double?
        /// The loudness range in LU.
        package var range: Double?
        /// The highest momentary and short-term loudness in LUFS.
        package var momentary, shortTerm: Double?
        /// The true peak in dBTP.
        package var truePeak: Double?

        /// Creates a row without values.
        package init(track: String) { self.track = track }
    }

    /// An output that was not made.
    package struct LeftOut: Encodable, Sendable {
        /// The output, such as `sprite.vtt`.
        package var name: String
        /// The reason, as part of a sentence.
        package var reason: String

        /// Creates an entry from its parts.
        package init(name: String, reason: String) {
            self.name = name
            self.reason = reason
        }
    }
}
