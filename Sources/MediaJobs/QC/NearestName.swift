/// The name that a person may have meant by one that does not exist.
enum NearestName {
    /// The name that takes the fewest changes of a letter; `nil` where all are too different.
    static func of(_ name: String, among names: some Sequence<String>) -> String? {
        let limit = max(2, name.count / 3)
        return names.map { ($0, distance(name, $0)) }.min { ($0.1, $0.0) < ($1.1, $1.0) }
            .flatMap { $0.1 <= limit ? $0.0 : nil }
    }

    /// The end of a message about a name that does not exist: `; did you mean 'max'?`.
    static func hint(_ name: String, among names: some Sequence<String>) -> String {
        of(name, among: names).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// How many letters are put in, left out or changed (Levenshtein), capitals aside; long names are cut.
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
