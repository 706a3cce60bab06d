"""Group `probe`: every field of `mediatool probe --json` against ffprobe's."""

import json
from fractions import Fraction

from . import boxes, matroska, reference
from .programs import is_list, is_refused_by_some, mediatool
from .schema import problems_of, validator
from .tools import expect, ffprobe

# What ffprobe calls the same thing.
KINDS = {"timecode": "data"}
# Fields in which ffprobe 5.1 is wrong or says something else, by file, and why.
EXCEPTIONS = {
    # An unknown length is written as 2^32-1 and taken for a number.
    "androidx/sample_fragmented.mp4": {"duration", "bit_rate"},
    # A track without samples, of which ffprobe has nothing to decode; its avcC says so.
    "androidx/sample_empty_track.mp4": {"#1 profile", "#1 pixel format", "#1 chromaLocation"},
    # The data track's stts, mdhd and tkhd all say 10.543 s; those of the other 10.5105 s, where 7.1 says as the container.
    "gopro/max-heromode.mp4": {"#3 duration", "#4 duration"},
    # mvhd says 5.167 s; the video's edits, 0.226 s of nothing and 5.002 s of media, end later.
    "rails/rotated_video.mp4": {"container duration"},
    # The packet table says 220,500 valid frames, 5 s; ffprobe 5.1 counts the padding too.
    "audiofile/sine20.caf": {"duration"},
    # iTunSMPB says 2112 samples of priming and 88,200 real ones; ffprobe begins late and counts the padding.
    "fate/tones_quicktimeX_44100_stereo_aac_lc.m4a": {"start", "duration", "bit_rate"},
}


def probe(report, files):
    """One check a file; its line says how many fields were compared."""
    schema = validator("probe")
    report.each("probe", [(name, lambda name=name, path=path: one_file(name, path, schema)) for name, path in files])


def one_file(name, path, schema):
    result = mediatool("probe", "--json", path)
    got = json.loads(result.stdout)
    expect(not (problems := problems_of(schema, got)), problems)
    try:
        wanted = ffprobe(path, "-show_format", "-show_streams", "-show_chapters")
    except RuntimeError:
        wanted = None
    if wanted is None and is_refused_by_some(path):
        return "refused by ffprobe alone"
    if wanted is None or is_list(path):
        expect(result.returncode == 2 and "error" in got, "a file that ffprobe refuses was not refused")
        return "refused"
    expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
    fields = Comparison(EXCEPTIONS.get(name, set()))
    if wanted["format"]["format_name"] == "ogg":
        fields.unheard = opus_pre_skip(path)
    if wanted["format"]["format_name"] == "mp3":
        fields.unheard = lame_delays(path, wanted["format"], wanted["streams"][0])
    fields.origins = origins(got, wanted["streams"])
    compare_container(fields, got, wanted, path)
    expect(len(got["tracks"]) == len(wanted["streams"]),
           f"{len(got['tracks'])} tracks, ffprobe has {len(wanted['streams'])}")
    for track, stream in zip(got["tracks"], wanted["streams"]):
        compare_track(fields, track, stream, got, f"#{stream['index']}")
    expect(len(got["chapters"]) == len(wanted["chapters"]), "another number of chapters")
    for place, (chapter, other) in enumerate(zip(got["chapters"], wanted["chapters"])):
        compare_chapter(fields, chapter, other, f"chapter {place}")
    expect(not fields.problems, "; ".join(fields.problems))
    return f"{fields.count} fields"


class Comparison:
    """Collects what differs, and counts what was compared."""

    def __init__(self, exceptions, other="ffprobe"):
        self.exceptions, self.other, self.problems, self.count = exceptions, other, [], 0
        # Seconds that the other counts too, and nobody hears.
        self.unheard = Fraction(0)
        # What `origins` tells.
        self.origins = {}

    def same(self, place, field, got, wanted):
        """Both alike, both missing included."""
        self.count += 1
        if got != wanted and not {field, f"{place} {field}"} & self.exceptions:
            self.problems.append(f"{place} {field}: {got}, {self.other} {wanted}")

    def near(self, place, field, got, wanted, within):
        """Numbers (Fraction or None) that differ by no more than `within`."""
        self.count += 1
        if {field, f"{place} {field}"} & self.exceptions:
            return
        if (got is None) != (wanted is None) or (got is not None and abs(got - wanted) > within):
            shown = [None if value is None else float(value) for value in (got, wanted)]
            self.problems.append(f"{place} {field}: {shown[0]}, {self.other} {shown[1]}")


def seconds(time):
    return None if time is None else Fraction(time["value"], time["timescale"])


def ratio(value):
    return None if value is None else Fraction(value["num"], value["den"])


def asked(stream, key):
    """A fraction of ffprobe's, or None where it says 0 or nothing."""
    text = str(stream.get(key, "0")).replace(":", "/")
    numerator, _, denominator = text.partition("/")
    return Fraction(numerator) / int(denominator or 1) if int(denominator or 1) and Fraction(numerator) else None


def compare_container(fields, got, wanted, path):
    container, form = got["container"], wanted["format"]
    fields.same("container", "format", container["formatNames"], form["format_name"].split(","))
    fields.same("container", "size", container["sizeBytes"], int(form["size"]))
    tags = form.get("tags", {})
    if "major_brand" in tags and boxes.is_iso(path):
        fields.same("container", "brand", container.get("majorBrand"), tags["major_brand"])
        brands = "".join(container["compatibleBrands"])
        fields.same("container", "brands", brands, tags["compatible_brands"].replace("\0", ""))
    fields.same("container", "tracks", len(got["tracks"]), form["nb_streams"])
    # ffprobe's start is rounded to a microsecond, and its duration to a microsecond or, in the header, a tick.
    start = reference.first_packet(path) if any(matroska.delays(path) or []) else form.get("start_time")
    fields.near("container", "start", seconds(container.get("startTime")), start and Fraction(start), Fraction(1, 10**6))
    # Of programs with clocks of their own ffprobe counts all on one.
    if len(got["programs"]) > 1:
        return
    length = seconds(container.get("duration"))
    if is_movie_headers(path, length):
        form = {**form, "duration": length}
    compare_duration(fields, "container", length, form)
    if "duration" in container and "duration" in form and "duration" not in fields.exceptions:
        rate = Fraction(int(form["size"]) * 8) / Fraction(form["duration"])
        fields.near("container", "bit_rate", Fraction(container["bitRate"]), rate, rate / 50)


def is_movie_headers(path, length):
    """Whether a duration is that of an ISO file's movie header; from version 7 on ffprobe goes by the tracks instead."""
    return length is not None and boxes.is_iso(path) and abs(boxes.stated_duration(path) - length) <= Fraction(1, 1000)


def compare_duration(fields, place, got, wanted):
    """Durations agree within a millisecond, the coarsest clock of a movie header, where both know one."""
    if got is None or "duration" not in wanted:
        return
    other = Fraction(wanted["duration"]) - fields.unheard
    fields.near(place, "duration", got, other, Fraction(1, 1000))


def opus_pre_skip(path):
    """Seconds that Ogg's last position counts and nobody hears (RFC 7845, 4.3), which ffprobe does not take off."""
    with open(path, "rb") as file:
        head = file.read(4096)
    place = head.find(b"OpusHead")
    return Fraction(int.from_bytes(head[place + 10:place + 12], "little"), 48000) if place >= 0 else Fraction(0)


def lame_delays(path, form, stream):
    """Seconds of MP3 that LAME's tag says to cut, where ffprobe's duration counts them: some versions take them off."""
    with open(path, "rb") as file:
        head = file.read(200_000)
    tag = next((place for name in (b"Xing", b"Info") if (place := head.find(name)) >= 0), None)
    rate = int(stream["sample_rate"])
    frames = Fraction(form["duration"]) * rate / (1152 if rate >= 32000 else 576)
    if tag is not None and head[tag + 7] & 1:
        # The tag's own count: sound that is cut may last for a whole number of frames, too.
        whole = int.from_bytes(head[tag + 8:tag + 12], "big")
    else:
        whole = round(frames)
    encoder = head[tag + 8:tag + 200] if tag is not None else b""
    name = next((place for name in (b"LAME", b"Lavf", b"Lavc") if (place := encoder.find(name)) >= 0), None)
    if name is None or abs(frames - whole) > Fraction(1, 1000):
        return Fraction(0)
    delays = int.from_bytes(encoder[name + 21:name + 24], "big")
    # The decoder's own 529 samples come after the encoder's before the sound, and so are not left at its end.
    return Fraction((delays >> 12) + 529 + max(0, (delays & 0xFFF) - 529), rate)


def compare_track(fields, track, stream, report, place):
    same = lambda field, got, key: fields.same(place, field, got, stream.get(key))
    fields.same(place, "index", track["index"], stream["index"])
    if "id" in stream:
        fields.same(place, "id", track["id"], int(stream["id"], 16))
    # What ffprobe has no type for is data.
    fields.same(place, "type", KINDS.get(track["type"], track["type"]), stream.get("codec_type", "data"))
    same("codec", track.get("codec"), "codec_name")
    same("profile", track.get("profile"), "profile")
    tag = stream.get("codec_tag_string")
    if tag and "[" not in tag:
        fields.same(place, "tag", track.get("codecTag"), tag)
    else:
        fields.same(place, "tag", int(track.get("codecTag", "0x0"), 16), int(stream.get("codec_tag", "0x0"), 16))
    fields.same(place, "language", track.get("language"), reference.language(report["path"], stream))
    wanted = [key for key, value in stream["disposition"].items() if value]
    fields.same(place, "dispositions", sorted(track["dispositions"]), sorted(wanted))
    if "nb_frames" in stream:
        fields.same(place, "frames", track.get("sampleCount"), int(stream["nb_frames"]))
    # Without a header it is a running estimate from the packets read so far.
    rate, given = stream.get("bit_rate"), track.get("bitRate")
    slack = Fraction(rate or 0) / 50 if set(report["container"]["formatNames"]) & {"mpegts"} else 0
    # Of fragments each version of ffprobe makes another one up.
    if not boxes.is_fragmented(report["path"]):
        fields.near(place, "bit_rate", given and Fraction(given), rate and Fraction(rate), slack)
    compare_place(fields, track, stream, report, place)
    if track["type"] == "video":
        compare_video(fields, track["video"], stream, place, report["path"])
    if track["type"] == "audio":
        compare_audio(fields, track["audio"], stream, place)
    # Tags of Matroska are in capitals.
    tags = stream.get("tags", {})
    timecode = tags.get("timecode", tags.get("TIMECODE"))
    fields.same(place, "timecode", track.get("timecode", {}).get("start"), timecode)


def origins(report, streams):
    """The time stamp in seconds that is zero for each track of pictures or sound, by the starts that ffprobe tells."""
    container = report["container"]
    if set(container["formatNames"]) & {"mov", "matroska"}:
        return {stream["index"]: Fraction(0) for stream in streams}
    if len(report["programs"]) < 2:
        return {stream["index"]: seconds(container.get("startTime")) or Fraction(0) for stream in streams}
    # Programs have clocks of their own: the earliest start of those in the track's programs that are near its own.
    starts = {stream["index"]: stream["start_pts"] * Fraction(stream["time_base"]) for stream in streams
              if stream.get("codec_type") in ("video", "audio") and "start_pts" in stream}
    programs = [set(program["trackIndices"]) for program in report["programs"]]
    return {index: min(starts[other] for other in starts if abs(starts[other] - start) < 30 and
                       (other == index or any({index, other} <= program for program in programs)))
            for index, start in starts.items()}


def compare_place(fields, track, stream, report, place):
    """Start and duration on the presentation's time line; ffprobe counts from the container's clock."""
    origin = fields.origins.get(track["index"])
    start = seconds(track["timeRange"].get("start"))
    if "start_pts" in stream and origin is not None:
        base = Fraction(stream["time_base"])
        # Samples before zero are not shown; a cover is shown from the beginning, whatever its packet's time stamp.
        is_cover = stream.get("disposition", {}).get("attached_pic")
        wanted = Fraction(0) if is_cover else max(Fraction(0), stream["start_pts"] * base - origin)
        fields.near(place, "start", start, wanted, Fraction(0))
    # What ffprobe tells of a track of data is the length of all programs together.
    if "editList" not in track and not (len(report["programs"]) > 1 and track["type"] not in ("video", "audio")):
        compare_duration(fields, place, seconds(track["timeRange"].get("duration")), stream)


def pixel_shape(stream, path):
    """The shape of a pixel: `pasp` where there is one; else ffprobe's word.

    ffprobe prefers the coded pictures' (of DNxHD), and puts unequal scales of the matrix across the wrong sides of a picture
    that is turned; they are worked out from the matrix itself.
    """
    boxed = boxes.pixel_aspect(path, int(stream["id"], 0)) if "id" in stream else None
    if boxed:
        return boxed
    matrix = [entry["displaymatrix"] for entry in stream.get("side_data_list", []) if "displaymatrix" in entry]
    if matrix:
        rows = [[abs(int(number)) for number in line.split(":")[1].split()] for line in matrix[0].split("\n") if ":" in line]
        across, down = sum(rows[0][:2]), sum(rows[1][:2])
        if 0 in rows[0][:2] and abs(Fraction(across, down) - 1) > Fraction(1, 100):
            return Fraction(across, down)
    return asked(stream, "sample_aspect_ratio")


def compare_rates(fields, rates, stream, place):
    """Frame rates: ffprobe's are libavformat's, which are guesses where nobody states one.

    Where one is stated, ffprobe's guess may be the rate of fields, or be made up from two time stamps.
    """
    nominal, average = asked(stream, "r_frame_rate"), asked(stream, "avg_frame_rate")
    if rates.get("isEstimate") or "nominal" not in rates:
        if rates:
            fields.same(place, "nominal rate", ratio(rates.get("nominal")), nominal)
            fields.same(place, "average rate", ratio(rates.get("average")), average)
        return
    # ffprobe's average may be of a few time stamps, and its nominal rate that of fields.
    stated = ratio(rates["nominal"])
    near = [rate for rate in (nominal, average, nominal and nominal / 2) if rate and abs(stated / rate - 1) < Fraction(3, 100)]
    fields.same(place, "nominal rate", bool(near), True)


def compare_video(fields, video, stream, place, path):
    fields.same(place, "size", (video["encodedSize"]["width"], video["encodedSize"]["height"]),
                (stream["width"], stream["height"]))
    pixel = pixel_shape(stream, path)
    fields.same(place, "pixel aspect", ratio(video.get("sampleAspectRatio")), pixel)
    # ffprobe leaves out the clean aperture, and rounds.
    shape = pixel and pixel * Fraction(stream["width"], stream["height"])
    if shape and "cleanAperture" in video:
        clean = video["cleanAperture"]
        shape = pixel * ratio(clean["width"]) / ratio(clean["height"])
    fields.same(place, "display aspect", ratio(video.get("displayAspectRatio")), shape)
    turned = [entry["rotation"] for entry in stream.get("side_data_list", []) if "rotation" in entry]
    # ffprobe counts against the clock, and of a mirrored matrix it makes its own.
    if not video.get("mirrored"):
        fields.same(place, "rotation", video.get("rotation", 0), -turned[0] % 360 if turned else 0)
    rates = video.get("frameRate", {})
    if not stream["disposition"]["attached_pic"]:
        compare_rates(fields, rates, stream, place)
    fields.same(place, "pixel format", video.get("pixelFormat"), stream.get("pix_fmt"))
    # ffprobe's second letter is QTFF's reading of 9 and 14, which TN2162 corrects: the first field is the one shown first.
    order = stream.get("field_order")
    if order not in (None, "unknown"):
        order = {"tb": "tt", "bt": "bb"}.get(order, order)
        # ffprobe tells the container's word, also where the pictures say something else, which is what is shown.
        if video.get("fields", {}).get("conflict"):
            fields.same(place, "container's field order", video["fields"].get("container"), order)
            order = order_of_pictures(path, stream)
        fields.same(place, "field order", video.get("fieldOrder"), order)
    if "bits_per_raw_sample" in stream:
        fields.same(place, "bits", video.get("bitDepth"), int(stream["bits_per_raw_sample"]))
    color = video.get("color", {}).get("effective", {})
    for ours, theirs in [("primaries", "color_primaries"), ("transfer", "color_transfer"), ("matrix", "color_space"),
                         ("range", "color_range"), ("chromaLocation", "chroma_location")]:
        wanted = stream.get(theirs)
        # What frame headers of ProRes say, and limited range, which it has alone (SMPTE RDD 36): ffprobe up to version 6.
        if stream["codec_name"] == "prores" and wanted is None:
            continue
        # The pictures' own word comes before the container's; ffprobe 9 tells the container's beside the format for these.
        if ours == "range" and stream.get("pix_fmt", "").startswith("yuvj"):
            wanted = "pc"
        fields.same(place, ours, color.get(ours), None if wanted in ("unknown", "unspecified") else wanted)


def order_of_pictures(path, stream):
    """The order of fields that the first decoded picture has."""
    frame = ffprobe(path, "-select_streams", str(stream["index"]), "-read_intervals", "%+#1", "-show_frames",
                    "-show_entries", "frame=interlaced_frame,top_field_first")["frames"][0]
    return ("tt" if frame["top_field_first"] else "bb") if frame["interlaced_frame"] else "progressive"


def compare_audio(fields, audio, stream, place):
    fields.same(place, "sample rate", audio.get("sampleRate", 0), int(stream.get("sample_rate", 0)))
    fields.same(place, "channels", audio.get("channels", 0), stream.get("channels", 0))
    fields.same(place, "layout", audio.get("channelLayout"), stream.get("channel_layout"))
    fields.same(place, "sample format", audio.get("sampleFormat"), stream.get("sample_fmt"))
    bits = int(stream.get("bits_per_raw_sample", 0)) or stream.get("bits_per_sample", 0)
    fields.same(place, "bits", audio.get("bitsPerSample", 0), bits)


def compare_chapter(fields, chapter, other, place):
    base = Fraction(other["time_base"])
    fields.near(place, "start", seconds(chapter["timeRange"]["start"]), other["start"] * base, Fraction(0))
    fields.near(place, "duration", seconds(chapter["timeRange"]["duration"]),
                (other["end"] - other["start"]) * base, Fraction(0))
    fields.same(place, "title", chapter.get("title"), other.get("tags", {}).get("title"))
