internal import Inspection
internal import JSONText
package import MediaBase

/// A path to values in a probe report: `tracks[type=video].video.displaySize.width`.
///
/// Member names are separated by dots. Square brackets hold an array index, from 0 or negative from the end, `*` for
/// all elements, or a member and its value to select the elements that have it. Cover art does not match `type=video`.
package struct FieldPath: Sendable, Hashable {
    /// The path as written.
    package let text: String
    let steps: [JSONPath.Step]

    /// Reads a path.
    ///
    /// - Throws: `invalidArgument` if the text is not a path that starts with a name.
    package init(_ text: String) throws(MediaError) {
        guard let steps = JSONPath.steps(of: text), case .member? = steps.first else {
            throw MediaError(
                .invalidArgument, "'\(text)' is not a field; write it like tracks[type=video].video.displaySize.width")
        }
        self.text = text
        self.steps = steps
    }

    /// True if the values are known only after reading all packets.
    var isAboutScan: Bool { steps.contains(.member("scan")) }

    /// True if the values are frame rates.
    var isAboutRate: Bool { steps.contains(.member("frameRate")) }

    /// A place found by a path.
    struct Found {
        /// The value; `nil` if the place has none that can be compared.
        let value: PolicyValue?
        /// True if the place has a value, an object, or a list that is not empty.
        let isThere: Bool
        /// The index of the track on the path.
        let track: Int?

        /// The found value as text.
        var text: String { value?.text ?? (isThere ? "there" : "not said") }
    }

    /// Returns all places that the path leads to in a report; empty if the file lacks the media that the path refers
    /// to.
    func values(in report: JSONValue) -> [Found] {
        var places: [(value: JSONValue?, track: Int?)] = [(report, nil)]
        var isTracks = false
        for step in steps {
            var next: [(value: JSONValue?, track: Int?)] = []
            for (value, track) in places {
                switch (step, value?.settled) {
                case (.member(let name), .object(let object)):
                    let found = object.value(for: name)
                    // The rule does not apply to tracks of another type, or to containers without such an index.
                    if found == nil, ["video", "audio", "indexFirst"].contains(name) { continue }
                    next.append((found, track))
                case (.element(let place), .array(let array)):
                    let place = place < 0 ? place + array.elements.count : place
                    guard array.elements.indices.contains(place) else { continue }
                    next.append((array.elements[place], isTracks ? place : track))
                case (.every, .array(let array)):
                    next += array.elements.enumerated().map { ($0.element, isTracks ? $0.offset : track) }
                case (.having(let name, let wanted), .array(let array)):
                    for (place, element) in array.elements.enumerated() {
                        guard case .object(let object) = element.settled,
                            object.value(for: name)?.value?.text == wanted
                        else { continue }
                        // Cover art is a still picture, not video.
                        if isTracks, name == "type", object.isAttachedPicture { continue }
                        next.append((element, isTracks ? place : track))
                    }
                default: next.append((nil, track))
                }
            }
            isTracks = step == .member("tracks")
            places = next
        }
        return places.map { Found(value: $0.value?.value, isThere: $0.value?.isThere ?? false, track: $0.track) }
    }
}

extension JSONObject {
    /// True if the object is a track with an attached picture.
    fileprivate var isAttachedPicture: Bool {
        guard case .array(let roles)? = value(for: "dispositions")?.settled else { return false }
        return roles.elements.contains { $0.value?.text == "attached_pic" }
    }
}

extension JSONValue {
    /// True if the value is neither null nor an empty array.
    fileprivate var isThere: Bool {
        switch settled {
        case .null, .later: false
        case .array(let array): !array.elements.isEmpty
        case .bool, .number, .string, .object: true
        }
    }

    /// The value as rules compare it, or `nil` for null and for other objects.
    ///
    /// A time is compared by its seconds, a fraction exactly.
    fileprivate var value: PolicyValue? {
        switch settled {
        case .bool(let bool): return .bool(bool)
        case .number(let text): return Double(text).map(PolicyValue.number)
        case .string(let text): return .text(text)
        case .array(let array): return .text(array.elements.compactMap { $0.value?.text }.joined(separator: ","))
        case .object(let object):
            func number(_ key: String) -> (Double, String)? {
                guard case .number(let text)? = object.value(for: key)?.settled else { return nil }
                return Double(text).map { ($0, text) }
            }
            if let seconds = number("seconds"), let ticks = number("value"), let scale = number("timescale") {
                return .fraction(seconds.0, "\(ticks.1)/\(scale.1)")
            }
            if let (top, topText) = number("num"), let (bottom, bottomText) = number("den"), bottom != 0 {
                return .fraction(top / bottom, "\(topText)/\(bottomText)")
            }
            if let width = number("width"), let height = number("height") {
                return .text("\(width.1)x\(height.1)")
            }
            return nil
        case .null, .later: return nil
        }
    }
}

extension FieldPath {
    /// Checks that each name in the path exists in a probe report.
    ///
    /// - Returns: True if the value is a Boolean.
    /// - Throws: `invalidArgument` with the unknown name and a suggestion.
    func check() throws(MediaError) -> Bool {
        if case .member(let name)? = steps.first, ["schemaVersion", "path", "pathBytes"].contains(name) {
            throw error("rules are about what a file says, not about what it is called")
        }
        var (type, isList, isBoolean): (String?, Bool, Bool) = ("report", false, false)
        for step in steps {
            switch step {
            case .element, .every, .having:
                guard isList else { throw error("what is before the brackets is not a list") }
                isList = false
                if case .having(let name, _) = step { _ = try member(name, of: type) }
            case .member(let name):
                let found = try member(name, of: isList ? nil : type)
                (type, isList, isBoolean) = (found.type, found.isList, found.isBoolean)
            }
        }
        return isBoolean
    }

    private func member(_ name: String, of type: String?) throws(MediaError) -> ProbeField {
        guard let type, let fields = ProbeReport.fields[type] else {
            throw error("there is nothing below it that is called '\(name)'")
        }
        guard let found = fields.first(where: { $0.name == name }) else {
            throw error("there is no '\(name)'" + NearestName.hint(name, among: fields.map(\.name)))
        }
        return found
    }

    private func error(_ text: String) -> MediaError {
        MediaError(.invalidArgument, "field '\(self.text)': \(text)")
    }
}

/// Finds the known name that is most similar to an unknown one.
enum NearestName {
    /// Returns the name with the smallest edit distance, or `nil` if all are too different.
    static func of(_ name: String, among names: some Sequence<String>) -> String? {
        let limit = max(2, name.count / 3)
        return names.map { ($0, distance(name, $0)) }.min { ($0.1, $0.0) < ($1.1, $1.0) }
            .flatMap { $0.1 <= limit ? $0.0 : nil }
    }

    /// Returns the end of a message about an unknown name, such as `; did you mean 'max'?`.
    static func hint(_ name: String, among names: some Sequence<String>) -> String {
        of(name, among: names).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// Returns the Levenshtein distance, ignoring case, of the first 64 characters.
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.lowercased().prefix(64)), Array(right.lowercased().prefix(64)))
        var row = Array(0...right.count)
        for (i, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in right.enumerated() {
                let changed = diagonal + (letter == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(changed, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[right.count]
    }
}
