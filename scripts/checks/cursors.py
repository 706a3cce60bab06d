"""Group `cursors`: the samples that `AssetTrack.makeSampleCursor` finds against `ffprobe -show_packets`."""

from . import boxes, reference
from .programs import is_list, mediacheck
from .tools import expect, ffprobe


def cursors(report, files):
    """One check a file; its line says how many samples were compared."""
    report.each("cursors", [(name, lambda name=name, path=path: one_file(path)) for name, path in files])


def one_file(path):
    try:
        wanted = ffprobe(path, *reference.unedited(path), *reference.sizes(path), "-show_entries",
                         "packet=stream_index,size,pos,flags:stream=index,id,time_base")
    except RuntimeError:
        return "refused"
    if is_list(path):
        return "refused"
    lines = [line.split() for line in mediacheck("samples", path).decode().splitlines()]
    count = 0
    for stream in wanted["streams"]:
        found = [(int(size), place, key) for index, size, place, key in lines if int(index) == stream["index"]]
        packets = [(int(packet["size"]), packet.get("pos", "-"), "K" if "K" in packet["flags"] else "-")
                   for packet in wanted["packets"] if packet["stream_index"] == stream["index"]]
        if not packets:
            # ffprobe leaves out the packets of chapter tracks.
            continue
        if boxes.is_iso(path):
            # Where an edit list ends or repeats the media, samples are left out or come again; each is one of the file's.
            strange = [sample for sample in found if sample not in set(packets)]
            expect(not strange, f"#{stream['index']}: no packets of ffprobe: {strange[:3]}")
            expect(len(found) == len(packets) or reference.parts(path, stream) is not None,
                   f"#{stream['index']}: {len(found)} samples, {len(packets)} packets")
        else:
            expect(all(place == "-" for _, place, _ in found), f"#{stream['index']}: a place is given")
            total, all_of = sum(size for size, _, _ in found), sum(size for size, _, _ in packets)
            expect(total == all_of, f"#{stream['index']}: {total} bytes, not {all_of}")
            # Two fields of a frame are one sample.
            expect(len(found) <= len(packets), f"#{stream['index']}: {len(found)} samples, {len(packets)} packets")
        count += len(found)
    return f"{count} samples"
