/// A member of a probe report, or of a part of it.
package struct ProbeField: Sendable, Hashable {
    /// The name in JSON.
    package let name: String
    /// True for a list.
    package let isList: Bool
    /// True for a Boolean.
    package let isBoolean: Bool
    /// The name of the object's type, or of that of a list's elements, in ``ProbeReport/fields``; `nil` for one value.
    package let type: String?

    fileprivate init(_ text: Substring) {
        let parts = text.split(separator: ":")
        isList = parts[0].hasSuffix("[]")
        isBoolean = parts[0].hasSuffix("?")
        name = String(parts[0].dropLast(isList ? 2 : isBoolean ? 1 : 0))
        type = parts.count > 1 ? String(parts[1]) : nil
    }
}

extension ProbeReport {
    /// The members of each type of object, in order; those of the report itself are under `report`.
    ///
    /// Rules of quality control name members by their path. A test compares this table with `docs/schema/probe.json`.
    package static let fields: [String: [ProbeField]] = Dictionary(
        uniqueKeysWithValues: table.split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return (String(words[0]), words.dropFirst(2).map { ProbeField($0) })
        })

    // A name with [] is a list, one with ? a Boolean; the type of an object comes after the colon.
    private static let table = """
        report = container:container tracks[]:track chapters[]:chapter metadata[]:metadataItem \
            attachments[]:attachment programs[]:program warnings[]
        container = format formatNames[] majorBrand majorBrandVersion compatibleBrands[] duration:time bitRate \
            sizeBytes startTime:time startTimecode fragmented? indexFirst?
        track = id index type codec codecTag profile level levelName language enabled? dispositions[] bitRate \
            maximumBitRate timeRange:timeRange mediaDuration:time timeScale sampleCount editList[]:edit associatedTracks \
            timecode:timecode formats[]:format video:video audio:audio scan:scan metadata[]:metadataItem
        chapter = title timeRange:timeRange
        metadataItem = keySpace key identifier type value sizeBytes language
        attachment = trackIndex kind fileName mimeType sizeBytes
        program = number name trackIndices[] startTime:time duration:time
        time = value timescale seconds flags[]
        timeRange = start:time duration:time
        edit = segmentDuration:time mediaTime:time rate
        timecode = start dropFrame? source frameNumber frameDuration:time framesPerSecond reel
        format = codec codecTag encodedSize:size cleanAperture:cleanAperture sampleRate channels
        video = encodedSize:size productionSize:size cleanApertureSize:size displaySize:size \
            sampleAspectRatio:rational displayAspectRatio:rational cleanAperture:cleanAperture \
            trackAperture:trackAperture displayMatrix[] rotation mirrored? frameRate:frameRate minimumFrameDuration:time \
            containerDisplay:containerDisplay fieldOrder fields:fields pixelFormat bitDepth chromaSubsampling \
            color:color gamma:rational hdr:hdr
        audio = sampleRate channels channelLayout sampleFormat bitsPerSample priming remainder
        scan = packetCount frameCount sizeBytes corruptCount timeRange:timeRange frameDuration:spread \
            keyframes:keyframes bitRate:bitRate gaps[]:timeRange gapCount
        size = width height
        cleanAperture = width:rational height:rational horizontalOffset:rational verticalOffset:rational rect:rect \
            pixelRect:pixelRect
        rational = num den
        trackAperture = clean:exactSize production:exactSize encoded:exactSize
        frameRate = nominal:rational average:rational mode isEstimate
        containerDisplay = width height unit
        fields = container stream conflict?
        color = container:colors stream:colors effective:colors conflict?
        hdr = transferFamily masteringDisplay:masteringDisplay contentLightLevel:contentLightLevel hdr10Plus? \
            dolbyVision:dolbyVision
        spread = minimum:time average:time maximum:time
        keyframes = count spacing:spread minimumFrames maximumFrames
        bitRate = average maximum intervalSeconds values[]
        rect = x:rational y:rational width:rational height:rational
        pixelRect = x y width height
        exactSize = width height
        colors = primaries transfer matrix range chromaLocation
        masteringDisplay = red[]:rational green[]:rational blue[]:rational whitePoint[]:rational \
            minimumLuminance:rational maximumLuminance:rational
        contentLightLevel = maximum maximumFrameAverage
        dolbyVision = profile level layers[] compatibility
        """
}
