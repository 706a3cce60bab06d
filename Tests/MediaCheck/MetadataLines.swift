import AssetKit
import Glibc
import MediaBase

// Metadata as lines of text, for scripts/check metadata: the track's index or `file`, the identifier, the type, the language
// or `-`, the details as `key=value` with commas between them or `-`, and the bytes of the value in hexadecimal, with tabs
// between these.

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func line(_ scope: String, _ item: MetadataItem) -> String {
    let (type, bytes): (String, [UInt8]) =
        switch item.value {
        case .text(let text): ("text", Array(text.utf8))
        case .integer(let number): ("integer", Array("\(number)".utf8))
        case .float(let number): ("float", Array("\(number)".utf8))
        case .date(let text): ("date", Array(text.utf8))
        case .location(let text): ("location", Array(text.utf8))
        case .numbers: ("text", Array((item.value.text ?? "").utf8))
        case .data(let bytes): ("data", bytes)
        }
    let details = item.extraAttributes.sorted { $0.key.rawValue < $1.key.rawValue }
        .map { "\($0.key.rawValue)=\($0.value)" }
    return [
        scope, item.identifier.rawValue, type, item.language ?? "-",
        details.isEmpty ? "-" : details.joined(separator: ","),
        hex(bytes),
    ].joined(separator: "\t")
}

func item(_ fields: [Substring]) -> MetadataItem {
    let digits = fields.count > 5 ? Array(fields[5].utf8) : []
    guard fields.count > 4, let identifier = MetadataIdentifier(rawValue: String(fields[1])) else {
        fail("not an item: \(fields)")
    }
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16) ?? 0
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let value: MetadataItem.Value =
        switch fields[2] {
        case "integer": .integer(Int64(text) ?? 0)
        case "float": .float(Double(text) ?? 0)
        case "date": .date(text)
        case "location": .location(text)
        case "data": .data(bytes)
        default: .text(text)
        }
    var item = MetadataItem(identifier, value, language: fields[3] == "-" ? nil : String(fields[3]))
    for detail in fields[4].split(separator: ",") where fields[4] != "-" {
        let parts = detail.split(separator: "=", maxSplits: 1).map(String.init)
        item.extraAttributes[.init(rawValue: parts[0])] = parts.count > 1 ? parts[1] : ""
    }
    return item
}

/// Prints the metadata of a file and its tracks.
func items(_ asset: Asset) throws {
    for item in try asset.loadNow(.metadata) { print(line("file", item)) }
    for track in try asset.loadNow(.tracks) {
        for item in track.metadata { print(line("\(track.index)", item)) }
    }
}

/// Copies a file with the metadata that standard input states, and prints what the new file lacks.
func tags(_ asset: Asset, _ arguments: [String]) throws {
    var whole: [MetadataItem] = []
    var ofTracks: [Int: [MetadataItem]] = [:]
    while let text = readLine() {
        let fields = text.split(separator: "\t", omittingEmptySubsequences: false)
        if let index = Int(fields[0]) {
            ofTracks[index, default: []].append(item(fields))
        } else {
            whole.append(item(fields))
        }
    }
    let writer = try writer(arguments[0])
    let job = try Reencoder(asset: asset, writer: writer, video: .copy, audio: .copy)
    writer.metadata = whole
    for (index, input) in writer.inputs.enumerated() { input.metadata = ofTracks[index] ?? [] }
    try job.runNow()
    for lost in writer.metadataLeftOut {
        print(
            lost.part == .language ? "language" : "item", line(lost.inputIndex.map { "\($0)" } ?? "file", lost.item),
            separator: "\t")
    }
}
