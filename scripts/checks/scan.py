"""Group `scan`: `mediatool probe --scan` against `ffprobe -show_packets`, packet by packet."""

import json
from fractions import Fraction

from . import boxes, matroska, reference
from .probe import Comparison, origins, seconds
from .programs import is_list, mediatool
from .tools import expect, ffprobe

# By file, the fields in which ffprobe says something else, and why.
EXCEPTIONS = {
    # A track of data that ffprobe leaves out from version 6 on.
    "gopro/max-heromode.mp4": {"#4 packets", "#4 bytes"},
    # ffprobe leaves out the packets of a chapter track; the three titles are samples all the same.
    "androidx/sample_with_chapters.mp4": {"#2 packets", "#2 bytes"},
    "chapters.mp4": {"#2 packets", "#2 bytes"},
    # By the table of durations (`stts`) the last subtitle, an empty one, lasts for no time; ffprobe makes up 0.12 s.
    "many-tracks.mp4": {"#4 average", "#4 duration", "#4 shortest", "#4 longest"},
    # A cover picture has no place on the time line, and keyframes are counted as places to begin at.
    "artwork.m4a": {"#1 keyframes"},
    "artwork.mp3": {"#1 keyframes"},
}


def scan(report, files):
    """One check a file; its line says how many fields were compared."""
    report.each("scan", [(name, lambda name=name, path=path: one_file(name, path)) for name, path in files])


def one_file(name, path):
    try:
        wanted = ffprobe(path, *reference.unedited(path), *reference.sizes(path), "-show_packets", "-show_streams")
    except RuntimeError:
        return "refused"
    if is_list(path):
        return "refused"
    result = mediatool("probe", "--json", "--scan", path)
    expect(result.returncode == 0, f"exit {result.returncode}: {result.stderr.decode(errors='replace')}")
    got = json.loads(result.stdout)
    starts = origins(got, wanted["streams"])
    fields = Comparison(EXCEPTIONS.get(name, set()))
    for track, stream in zip(got["tracks"], wanted["streams"]):
        packets = [packet for packet in wanted["packets"] if packet["stream_index"] == track["index"]]
        settle(path, stream, packets)
        origin = starts.get(track["index"])
        compare(fields, f"#{track['index']}", track, packets, shown(path, stream, packets), Fraction(stream["time_base"]),
                origin if origin is None else origin - reference.shift(path, stream))
        if "frameCount" in track.get("scan", {}) and track["scan"]["frameCount"] != track["scan"]["packetCount"]:
            # Packets that hold one field: only decoding tells ffprobe how many frames they make.
            decoded = ffprobe(path, "-count_frames", "-show_entries", "stream=nb_read_frames")["streams"][track["index"]]
            fields.same(f"#{track['index']}", "frames", track["scan"]["frameCount"], int(decoded["nb_read_frames"]))
    expect(not fields.problems, "; ".join(fields.problems))
    return f"{fields.count} fields"


def settle(path, stream, packets):
    """Gives last samples the duration that the file states: ffprobe's depends on its version."""
    lasts = boxes.last_samples(path, int(stream.get("id", "0"), 16), stream.get("codec_type") == "video")
    table = boxes.packet_table(path)
    if table and len(packets) > 1:
        # All packets of a CAF file with a packet table last equally long here; what is not heard of the last is cut later.
        packets[-1]["duration"] = packets[-1]["pts"] - packets[-2]["pts"]
    for before, packet in zip(packets, packets[1:]):
        padding = any(int(data.get("discard_padding", 0)) > 0 for data in packet.get("side_data_list", []))
        if padding and stream.get("codec_name") == "opus" and matroska.delays(path):
            packet["duration"] = before["duration"]
    for packet in packets:
        end = lasts.get(packet.get("pts"), 0)
        if end > packet.get("pts", 0):
            packet["duration"] = end - packet["pts"]


# Packets of these may hold pictures that are never shown.
HIDING = ("vp8", "vp9", "av1")


def shown(path, stream, packets):
    """The packets that are on screen for some time, or the frames that ffprobe makes of them where that are fewer."""
    if stream.get("codec_name") not in HIDING:
        return packets
    frames = ffprobe(path, "-select_streams", str(stream["index"]), "-show_frames", "-show_entries",
                     "frame=best_effort_timestamp,pkt_duration,duration")["frames"]
    if len(frames) >= len(packets):
        return packets
    return [{"pts": frame["best_effort_timestamp"], "duration": frame.get("duration", frame.get("pkt_duration", 0))}
            for frame in frames]


def compare(fields, place, track, packets, shown, base, origin):
    found = track.get("scan", {})
    fields.same(place, "packets", found.get("packetCount", 0), len(packets))
    fields.same(place, "bytes", found.get("sizeBytes", 0), sum(int(packet["size"]) for packet in packets))
    if track["type"] == "video":
        keys = sum("K" in packet["flags"] for packet in packets)
        fields.same(place, "keyframes", found.get("keyframes", {}).get("count", 0), keys)
    if origin is None:
        return
    times, all_times = (sorted((packet.get("pts", packet.get("dts")) * base - origin, packet.get("duration", 0) * base)
                               for packet in entries if "pts" in packet or "dts" in packet)
                        for entries in (shown, packets))
    if not times:
        return
    lengths = [later[0] - earlier[0] for earlier, later in zip(times, times[1:])]
    if times[-1][1] > 0:
        lengths.append(times[-1][1])
    if lengths:
        spread = found.get("frameDuration", {})
        fields.near(place, "shortest", seconds(spread.get("minimum")), min(lengths), Fraction(0))
        fields.near(place, "longest", seconds(spread.get("maximum")), max(lengths), Fraction(0))
        # The mean is rounded where its denominator has more than 32 bits.
        average = sum(lengths) / len(lengths)
        fields.near(place, "average", seconds(spread.get("average")), average, Fraction(1, 10**6))
    start, end = min(time for time, _ in all_times), max(time + length for time, length in all_times)
    fields.near(place, "start", seconds(found["timeRange"]["start"]), start, Fraction(0))
    fields.near(place, "duration", seconds(found["timeRange"]["duration"]), end - start, Fraction(0))
