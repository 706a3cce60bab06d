package import MediaBase

/// Reads boxes from a byte source, within limits, and collects warnings about damage.
///
/// Damage never throws: a box that exceeds its parent is clipped to it, and a list ends at an impossible header. Only
/// errors of the source are thrown.
///
/// ISO/IEC 14496-12, 4.2; QuickTime File Format, "Atoms".
package struct BoxReader {
    /// The source of the boxes.
    package let source: any ByteSource

    /// The limits on what is read.
    package let limits: BoxLimits

    /// The problems found so far, one sentence each; at most `limits.warnings`, and then a final note.
    package private(set) var warnings: [String] = []

    /// True if a limit on number or size was reached, so that data may be missing.
    package private(set) var reachedLimit = false

    private var boxesLeft: Int
    private var payloadLeft: Int
    private var tableLeft: Int
    private var window: [UInt8] = []
    private var windowStart: UInt64 = 0

    /// Creates a reader for a source; nothing is read yet.
    package init(_ source: any ByteSource, limits: BoxLimits = BoxLimits()) {
        self.source = source
        self.limits = limits
        boxesLeft = limits.boxes
        payloadLeft = limits.payloads
        tableLeft = limits.tables
    }

    /// The byte range of the whole source; ends at the maximum file offset if the size is unknown.
    package var wholeSource: Range<UInt64> { 0..<min(source.size ?? .max, UInt64(Int64.max)) }

    /// Records a warning, unless the same warning is already recorded.
    package mutating func warn(_ text: String) {
        guard !warnings.contains(text) else { return }
        if warnings.count < limits.warnings {
            warnings.append(text)
        } else if warnings.count == limits.warnings {
            warnings.append("further warnings are left out")
        }
    }

    /// Records a warning and sets ``reachedLimit``.
    package mutating func reachLimit(_ text: String) {
        warn(text)
        reachedLimit = true
    }

    /// Reads the header of the box at `offset`.
    ///
    /// - Parameters:
    ///   - offset: The offset at which the box starts.
    ///   - end: The end of the parent; the box is clipped to it.
    /// - Returns: The box, or `nil` at the end, at the zeros that end a QuickTime list, at an impossible header (with a
    ///   warning), or if a limit is reached.
    /// - Throws: Any error that the source throws.
    package mutating func box(at offset: UInt64, end: UInt64) throws(MediaError) -> Box? {
        guard offset < end else { return nil }
        guard boxesLeft > 0 else {
            reachLimit("more boxes than the limit boxes=\(limits.boxes): the rest was not read")
            return nil
        }
        let available = end - offset
        let head = try bytes(at: offset, count: Int(min(available, 32)))
        var reader = BigEndianReader(head)
        guard let size32 = try? reader.uint32(), let type = try? reader.fourCC() else {
            if head.contains(where: { $0 != 0 }) { warn("\(head.count) stray bytes at offset \(offset)") }
            return nil
        }
        var size = UInt64(size32)
        var headerSize: UInt64 = 8
        switch size32 {
        case 0 where type.rawValue == 0:
            if available > 8 { warn("zeros instead of a box at offset \(offset)") }
            return nil
        case 0:
            size = available
        case 1:
            headerSize = 16
            guard let size64 = try? reader.uint64() else {
                warn("the header of box \(type) at offset \(offset) ends too early")
                return nil
            }
            size = size64
        default:
            break
        }
        var userType: [UInt8]?
        if type == "uuid", let bytes = try? reader.take(16) {
            headerSize += 16
            userType = Array(bytes)
        }
        guard size >= headerSize else {
            warn("box \(type) at offset \(offset) has the impossible size \(size)")
            return nil
        }
        if size > available {
            warn("box \(type) at offset \(offset) is \(size - available) bytes longer than what holds it")
        }
        boxesLeft -= 1
        let boxEnd = offset + min(size, available)
        return Box(
            type: type, userType: userType, offset: offset, headerSize: headerSize,
            payload: offset + headerSize..<boxEnd)
    }

    /// Reads the headers of the consecutive boxes in a range.
    ///
    /// - Returns: The boxes in file order, up to the first that cannot be read.
    /// - Throws: Any error that the source throws.
    package mutating func boxes(in range: Range<UInt64>) throws(MediaError) -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        while let box = try box(at: offset, end: range.upperBound) {
            boxes.append(box)
            offset = box.range.upperBound
        }
        return boxes
    }

    /// Parses the payload of a box.
    ///
    /// - Parameters:
    ///   - box: The box; if `nil`, nothing is read.
    ///   - prefix: The maximum number of payload bytes to read; by default all.
    ///   - body: Parses the payload into a value; an error that it throws becomes a warning.
    /// - Returns: The value, or `nil` if the box is missing, damaged or too large.
    /// - Throws: Any error that the source throws.
    package mutating func parse<Value>(
        _ box: Box?, prefix: Int = .max, _ body: (inout BigEndianReader) throws(MediaError) -> Value
    ) throws(MediaError) -> Value? {
        guard let box else { return nil }
        let count = min(Int(clamping: box.payloadSize), prefix)
        guard count <= limits.payload, count <= payloadLeft else {
            reachLimit("box \(box.type) at offset \(box.offset) is too large to be read (\(count) bytes)")
            return nil
        }
        payloadLeft -= count
        var reader = BigEndianReader(try bytes(at: box.payload.lowerBound, count: count))
        do {
            let value = try body(&reader)
            for note in reader.notes { warn("box \(box.type) at offset \(box.offset) \(note)") }
            return value
        } catch {
            warn("box \(box.type) at offset \(box.offset) \(error.message) and was skipped")
            return nil
        }
    }

    /// Calls a closure for each entry of a table, without keeping the table in memory.
    ///
    /// - Parameters:
    ///   - box: The box that contains the table.
    ///   - start: The offset of the first entry in the payload.
    ///   - entrySize: The size of an entry in bytes.
    ///   - count: The number of entries that the box declares. Entries beyond the payload are left out, with a warning.
    ///   - body: Called for each entry, in order; must read exactly `entrySize` bytes.
    /// - Throws: Any error that the source throws.
    package mutating func forEachEntry(
        of box: Box, from start: Int, entrySize: Int, count: UInt32,
        _ body: (inout BigEndianReader) throws(MediaError) -> Void
    ) throws(MediaError) {
        guard entrySize > 0, start >= 0 else { return }
        let held = (box.payloadSize - min(UInt64(start), box.payloadSize)) / UInt64(entrySize)
        var left = Int(clamping: min(UInt64(count), held))
        if UInt64(count) > held {
            warn("box \(box.type) at offset \(box.offset) claims \(count) entries and holds \(held)")
        }
        let entriesInBudget = tableLeft / entrySize
        if left > entriesInBudget {
            reachLimit("box \(box.type) at offset \(box.offset) is too large to be read (\(left) entries)")
            left = entriesInBudget
        }
        tableLeft -= left * entrySize
        var offset = box.payload.lowerBound + UInt64(start)
        while left > 0 {
            let batch = min(left, max(1, 65_536 / entrySize))
            var reader = BigEndianReader(try source.read(at: offset, count: batch * entrySize))
            for _ in 0..<batch {
                guard reader.remaining >= entrySize else {
                    warn("box \(box.type) at offset \(box.offset) ends too early")
                    return
                }
                do {
                    try body(&reader)
                } catch {
                    warn("box \(box.type) at offset \(box.offset) \(error.message)")
                    return
                }
            }
            offset += UInt64(batch * entrySize)
            left -= batch
        }
    }

    /// Reads bytes that a table points to, such as a sample; returns fewer bytes at the end of the source.
    ///
    /// Small reads go through a window, because headers and small boxes are close together. `count` must be chosen by
    /// the caller, never taken from a file.
    package mutating func bytes(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        let windowSize = 4096
        guard count <= windowSize / 4 else { return try source.read(at: offset, count: count) }
        let isInside =
            offset >= windowStart && offset - windowStart <= UInt64(window.count)
            && window.count - Int(offset - windowStart) >= count
        if !isInside {
            window = try source.read(at: offset, count: windowSize)
            windowStart = offset
        }
        let start = Int(offset - windowStart)
        return Array(window.dropFirst(start).prefix(count))
    }
}

/// The relevant boxes at a file's top level, found by reading only box headers.
struct TopLevelBoxes {
    /// The first `ftyp`.
    private(set) var fileType: Box?

    /// The first `moov`.
    private(set) var movie: Box?

    /// The first `mdat`.
    private(set) var media: Box?

    /// All `moof` boxes, in file order.
    private(set) var fragments: [Box] = []

    /// All `sidx` boxes, in file order.
    private(set) var segmentIndexes: [Box] = []

    /// True if the first box is of a type with which an MP4 or QuickTime file can start.
    private(set) var isKnownFormat = false

    private static let openingTypes: [FourCC] = [
        "ftyp", "styp", "moov", "mdat", "moof", "sidx", "free", "skip", "wide", "pnot", "uuid", "pdin", "meta", "udta",
    ]
    private static let furtherTypes: [FourCC] = ["mfra", "ssix", "emsg", "prft"]

    /// Reports whether boxes of a type occur at the top level of MP4 or QuickTime files.
    static func isKnown(_ type: FourCC) -> Bool { openingTypes.contains(type) || furtherTypes.contains(type) }

    /// Scans the top level from the start, skipping the payloads.
    init(_ reader: inout BoxReader) throws(MediaError) {
        let whole = reader.wholeSource
        var offset = whole.lowerBound
        var count = 0
        while count < reader.limits.topLevelBoxes, let box = try reader.box(at: offset, end: whole.upperBound) {
            if count == 0 { isKnownFormat = Self.openingTypes.contains(box.type) }
            switch box.type {
            case "ftyp": fileType = fileType ?? box
            case "mdat": media = media ?? box
            case "moof": fragments.append(box)
            case "sidx": segmentIndexes.append(box)
            case "moov" where movie == nil: movie = box
            case "moov": reader.warn("a second movie box (moov) at offset \(box.offset) was left out")
            default: break
            }
            count += 1
            offset = box.range.upperBound
        }
        if count == reader.limits.topLevelBoxes, offset < whole.upperBound {
            reader.reachLimit("more than \(count) boxes on the top level: the rest was not read")
        }
    }
}
