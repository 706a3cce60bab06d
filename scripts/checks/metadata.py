"""Metadata: every cell of docs/metadata.md, written by the library and read back, beside other programs.

Each meaning of the table is written to each type of file. The cell says under which key it has to come back, with the
same value and type; a dash says that the loss has to be told. mutagen, exiftool, mkvextract or ffprobe has to find the
value in the same place. Then files are tagged by these programs, and read by the library.
"""

import argparse
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree as xml

import mutagen
from mutagen.flac import FLAC, Picture
from mutagen.id3 import ID3
from mutagen.mp4 import MP4, MP4Cover, MP4FreeForm

from .tools import ROOT, Report, expect, run

CHECK = os.environ.get("MEDIACHECK_BINARY", os.path.join(ROOT, ".build/release/mediacheck"))
TYPES = ["mov", "mp4", "m4a", "mkv", "mka", "webm", "flac", "ogg", "wav", "aiff", "caf"]
COLUMN = {"mka": "mkv", "webm": "mkv"}
AUDIO = {"webm": ["libopus"], "ogg": ["libopus"], "flac": ["flac"], "wav": ["pcm_s16le"], "caf": ["pcm_s16le"],
         "aiff": ["pcm_s16be"]}
SPACES = {"mkv": "matroska", "flac": "vorbis", "ogg": "vorbis", "wav": "riff", "aiff": "id3", "caf": "caaf", "mp3": "id3"}
DASH = "—"


def main():
    parser = argparse.ArgumentParser(prog="scripts/check metadata", description=__doc__)
    parser.add_argument("--full", action="store_true", help="each cell also in a file of its own")
    parser.add_argument("--types", default=",".join(TYPES), help="types of files to write")
    parser.add_argument("--verbose", action="store_true", help="name the cells that hold, too")
    options = parser.parse_args()
    report = Report(verbose=options.verbose)
    rows = table()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.types.split(","):
            kit = Kit(folder, name)
            written = kit.write([row.item(name) for row in rows if row.goes_with_others])
            report.each("matrix", [(f"{name} {row.meaning}", lambda row=row: cell(kit, written, row))
                                   for row in rows if row.goes_with_others])
            report.each("others", [(f"{name} {row.meaning}", lambda row=row: others(kit, written, row))
                                   for row in rows if row.goes_with_others])
            alone = [row for row in rows if options.full or not row.goes_with_others]
            report.each("alone", [(f"{name} {row.meaning}", lambda row=row: by_itself(kit, row)) for row in alone])
            report.each("besides", [(f"{name} {what.__name__}", lambda what=what: what(kit)) for what in BESIDES])
        report.each("foreign", [(what.__name__, lambda what=what: what(folder)) for what in FOREIGN])
    sys.exit(report.finish())


class Row:
    """A line of the table."""

    def __init__(self, cells, heads):
        cells = [cell.strip() for cell in cells]
        self.meaning, self.kind = cells[0].strip("`"), cells[1]
        self.cells = {head.strip(): cell.strip("`") for head, cell in zip(heads[2:], cells[2:])}
        # Two items of one meaning would be two values of one key.
        self.goes_with_others = self.meaning not in ("mdta/com.apple.quicktime.title", "uiso/titl")

    @property
    def typed(self):
        """The type and the bytes of a value."""
        return {"date": ("date", b"2021-02-03"), "location": ("location", b"+48.8789+002.3376/"),
                "number of total": ("text", b"3/12"), "number": ("integer", b"1"), "integer": ("integer", b"-70000"),
                "float": ("float", b"2.5"), "bytes": ("data", bytes([0, 1, 2, 255])),
                "picture": ("data", PNG)}.get(self.kind, ("text", f"Größe: {self.meaning}".encode()))

    def item(self, _):
        kind, value = self.typed
        return ("file", escaped(self.meaning), kind, "-", "-", value)

    def key(self, name):
        return self.cells[COLUMN.get(name, name)]

    def is_kept(self, name):
        # WebM has no attachments.
        return self.key(name) != DASH and not (name == "webm" and self.kind == "picture")

    def identifier(self, name):
        """The identifier under which the value has to come back."""
        key = self.key(name)
        if "/" in key:
            return key
        if self.kind == "picture":
            key = {"mkv": "attached picture", "flac": "METADATA_BLOCK_PICTURE"}.get(COLUMN.get(name, name), key)
        return SPACES[COLUMN.get(name, name)] + "/" + key


def table():
    with open(os.path.join(ROOT, "docs/metadata.md"), encoding="utf-8") as file:
        lines = [line.strip().strip("|").split("|") for line in file if line.startswith("|")]
    start = next(place for place, line in enumerate(lines) if line[0].strip() == "meaning")
    rows = []
    for line in lines[start + 2:]:
        if not line[0].strip().startswith("`"):
            break
        rows.append(Row(line, lines[start]))
    return rows


def escaped(identifier):
    space, _, key = identifier.partition("/")
    coding = "latin-1" if space in ("itsk", "udta", "uiso") else "utf-8"
    return space + "/" + urllib.parse.quote(key.encode(coding), safe="-._~")


def unescaped(identifier):
    space, _, key = identifier.partition("/")
    return space + "/" + urllib.parse.unquote(key, encoding="latin-1" if space in ("itsk", "udta", "uiso") else "utf-8")


class Kit:
    """A type of file: a source without metadata, and ways to write and to read it."""

    def __init__(self, folder, name):
        self.folder, self.name, self.count = folder, name, 0
        self.source = os.path.join(folder, "source." + name)
        codec = AUDIO.get(name, ["aac"])
        run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=duration=0.5:sample_rate=48000", "-c:a", *codec,
             "-bitexact", "-map_metadata", "-1", self.source])

    def write(self, items):
        self.count += 1
        path = os.path.join(self.folder, f"written-{self.count}.{self.name}")
        lines = "".join("\t".join([*item[:5], item[5].hex()]) + "\n" for item in items)
        lost = run([CHECK, "tags", self.source, path], input=lines.encode()).decode().splitlines()
        return Written(path, [Item(line.split("\t")[1:], line.split("\t")[0]) for line in lost])


class Item:
    def __init__(self, fields, lost=None):
        self.scope, self.identifier, self.type, self.language, self.details = fields[:5]
        self.identifier = unescaped(self.identifier)
        self.value, self.lost = bytes.fromhex(fields[5]) if len(fields) > 5 else b"", lost

    def __repr__(self):
        return f"{self.scope} {self.identifier} {self.type} {self.language} {self.details} {self.value[:40]}"


def read(path):
    return [Item(line.split("\t")) for line in run([CHECK, "items", path]).decode().splitlines()]


class Written:
    def __init__(self, path, lost):
        self.path, self.lost, self.items = path, lost, read(path)


def cell(kit, written, row):
    """The value comes back under its key with its type, or its loss is told."""
    kind, value = row.typed
    told = [item for item in written.lost if item.identifier == row.meaning and item.lost == "item"]
    if not row.is_kept(kit.name):
        expect(told, f"neither kept nor told: {written.items}")
        return "told"
    expect(not told, "told to be lost")
    wanted = row.identifier(kit.name)
    found = [item for item in written.items if same_key(item.identifier, wanted) and item.value == value]
    expect(found, f"not read as {wanted}: {written.items}")
    if kit.name in ("mov", "mp4", "m4a"):
        expect(found[0].type == kind, f"{found[0].type}, not {kind}")
    return wanted


def same_key(one, other):
    return one == other or (one.startswith("matroska/") and one.lower() == other.lower())


def others(kit, written, row):
    """Another program finds the value in the same place."""
    if not row.is_kept(kit.name):
        return "-"
    identifier, value = row.identifier(kit.name), row.typed[1]
    space, _, key = identifier.partition("/")
    found = reader(space)(written.path, key)
    text = [one if isinstance(one, bytes) else str(one).encode() for one in found]
    if row.kind == "number of total" and space == "itsk":
        value = b"(3, 12)"
    expect(any(alike(one, value) for one in text), f"{space} {key}: {text[:3]}")
    return space


def alike(one, value):
    if one == value:
        return True
    try:
        return float(one) == float(value)
    except ValueError:
        return one == b"True" and value == b"1"


def reader(space):
    return {"itsk": by_mutagen_mp4, "itlk": by_mutagen_mp4, "vorbis": by_mutagen_comments, "id3": by_mutagen_id3,
            "matroska": by_mkvextract, "riff": by_exiftool, "udta": by_exiftool, "mdta": by_exiftool, "uiso": by_exiftool,
            "caaf": by_ffprobe}[space]


def by_mutagen_mp4(path, key):
    tags = MP4(path).tags or {}
    if "." in key:
        key = "----:com.apple.iTunes:" + key.removeprefix("com.apple.iTunes.")
    found = tags.get(key, [])
    return [bytes(one) if isinstance(one, (MP4Cover, MP4FreeForm)) else one for one in
            (found if isinstance(found, list) else [found])]


def by_mutagen_comments(path, key):
    file = mutagen.File(path)
    if key == "METADATA_BLOCK_PICTURE":
        blocks = file.pictures if isinstance(file, FLAC) else [
            Picture(base64.b64decode(text)) for text in file.tags.get(key, [])]
        return [block.data for block in blocks]
    return file.tags.get(key, [])


def by_mutagen_id3(path, key):
    found = []
    for frame in mutagen.File(path).tags.getall(key):
        if key == "APIC":
            found.append(frame.data)
        else:
            text = frame.text
            found += text if isinstance(text, list) else [text]
    return found


def by_mkvextract(path, key):
    if key == "attached picture":
        target = path + ".attachment"
        run(["mkvextract", path, "attachments", "1:" + target])
        with open(target, "rb") as file:
            return [file.read()]
    if key == "TITLE":
        return [json.loads(run(["mkvmerge", "-J", path]))["container"]["properties"].get("title", "")]
    tags = xml.fromstring(run(["mkvextract", path, "tags"]) or b"<Tags/>")
    return [simple.findtext("String") or "" for simple in tags.iter("Simple") if simple.findtext("Name") == key]


def by_exiftool(path, key):
    """Every value that exiftool knows; it names keys in its own way."""
    tags = json.loads(run(["exiftool", "-j", "-a", "-u", "-U", "-G1", "-b", "-api", "LargeFileSupport=1",
                           "-charset", "riff=utf8", "-charset", "quicktime=utf8", path]))[0]
    found = list(tags.values())
    # exiftool rewrites dates and places, and its JSON has bytes as text: ffprobe's texts and the file's bytes.
    found += by_ffprobe(path, None)
    with open(path, "rb") as file:
        content = file.read()
    return [one for one in found] + [PNG] * (PNG in content) + [bytes([0, 1, 2, 255])] * (bytes([0, 1, 2, 255]) in content)


def by_ffprobe(path, key):
    shown = json.loads(run(["ffprobe", "-v", "error", "-show_entries", "format_tags:stream_tags", "-of", "json", path]))
    tags = dict(shown["format"].get("tags", {}))
    for stream in shown.get("streams", []):
        tags.update(stream.get("tags", {}))
    return [value for name, value in tags.items() if key is None or name == key]


def by_itself(kit, row):
    written = kit.write([row.item(kit.name)])
    detail = cell(kit, written, row)
    others(kit, written, row)
    os.remove(written.path)
    return detail


# What else is kept: the second table.

def text_item(identifier, text, language="-", scope="file", details="-"):
    return (scope, escaped(identifier), "text", language, details, text.encode())


def languages(kit):
    """Two texts in two languages, or the loss of the language is told."""
    written = kit.write([text_item("comn/title", "Name", "deu"), text_item("itsk/©cmt", "mot", "fr")])
    kept = kit.name in ("mov", "mp4", "m4a", "mkv", "mka", "webm")
    for text, language in (("Name", "deu"), ("mot", "fra")):
        found = [item for item in written.items if item.value == text.encode()]
        expect(found, f"{text} is missing")
        if kit.name in ("mkv", "mka", "webm") and text == "Name":
            # The segment's title has no language: the tag beside it has.
            continue
        same = {"fra": ("fra", "fre"), "deu": ("deu", "ger")}[language]
        told = [item for item in written.lost if item.value == text.encode() and item.lost == "language"]
        expect(any(item.language in same for item in found) if kept else told, f"{text}: {found} {written.lost}")


def values(kit):
    """Two artists, or the loss of one is told."""
    written = kit.write([text_item("comn/artist", "One"), text_item("comn/artist", "Two")])
    found = [item.value for item in written.items if item.value in (b"One", b"Two")]
    lost = [item.value for item in written.lost if item.lost == "item"]
    expect(sorted(set(found + lost)) == [b"One", b"Two"], f"{found} {lost}")
    if kit.name in ("mov", "mp4", "m4a", "flac", "ogg"):
        expect(found == [b"One", b"Two"], f"{found}")
    if kit.name in ("flac", "ogg"):
        expect(mutagen.File(written.path).tags["ARTIST"] == ["One", "Two"], "mutagen reads others")


def pictures(kit):
    """A front and a back cover, the latter with a description."""
    back = "pictureType=4,info=behind"
    written = kit.write([("file", "comn/artwork", "data", "-", "-", PNG), ("file", "comn/artwork", "data", "-", back, OTHER)])
    found = [item for item in written.items if item.value in (PNG, OTHER)]
    lost = [item for item in written.lost if item.value in (PNG, OTHER)]
    expect(len({item.value for item in found + lost}) == 2, f"{found} {lost}")
    if kit.name not in ("webm", "wav", "caf"):
        expect([item.value for item in found] == [PNG, OTHER], f"{found}")
    if kit.name in ("flac", "ogg", "aiff"):
        expect("pictureType=4" in found[1].details and "info=behind" in found[1].details, found[1].details)


def track(kit):
    """Metadata of the track, beside that of the file."""
    written = kit.write([text_item("itsk/©cmt", "of the track", scope="0"), text_item("comn/artist", "of the file")])
    one = kit.name in ("flac", "ogg", "wav", "aiff", "caf")
    found = [item for item in written.items if item.value == b"of the track"]
    expect(found and (one or found[0].scope == "0"), f"{written.items} {written.lost}")
    expect(any(item.value == b"of the file" for item in written.items), f"{written.items}")


def nothing(kit):
    """A file without metadata has none, and ffmpeg decodes every file without a message."""
    written = kit.write([])
    expect(not written.lost, f"{written.lost}")
    long = kit.write([text_item("itsk/©cmt", "x" * 70000)])
    for path in (written.path, long.path):
        message = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "null", "-"], capture_output=True, check=True)
        expect(not message.stderr, message.stderr.decode()[-200:])
    held = [item for item in long.items if len(item.value) == 70000]
    expect(held or long.lost, "70000 letters are neither kept nor told")


BESIDES = [languages, values, pictures, track, nothing]


# Files that others have tagged.

def made(folder, name, *options):
    path = os.path.join(folder, "foreign-" + name)
    run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=duration=0.3:sample_rate=48000", *options,
         "-bitexact", path])
    return path


def holds(path, identifier, value, type="text", language=None, details=None):
    items = read(path)
    value = value if isinstance(value, bytes) else value.encode()
    found = [item for item in items if item.identifier == identifier and item.value == value and item.type == type
             and (language is None or item.language == language) and (details is None or details in item.details)]
    expect(found, f"{identifier} {value[:30]} {type} {language} {details}: {items}")


def mutagen_m4a(folder):
    path = made(folder, "a.m4a")
    file = MP4(path)
    file["©nam"], file["©ART"] = "Größe", ["One", "Two"]
    file["trkn"], file["disk"], file["cpil"], file["tmpo"] = [(3, 12)], [(2, 0)], True, [128]
    file["covr"] = [MP4Cover(PNG, MP4Cover.FORMAT_PNG), MP4Cover(OTHER, MP4Cover.FORMAT_PNG)]
    file["----:com.apple.iTunes:MOOD"] = [b"calm"]
    file["----:org.example:A"] = [b"b"]
    file.save()
    holds(path, "itsk/©nam", "Größe")
    holds(path, "itsk/©ART", "One")
    holds(path, "itsk/©ART", "Two")
    holds(path, "itsk/trkn", "3/12")
    holds(path, "itsk/disk", "2", "integer")
    holds(path, "itsk/cpil", "1", "integer")
    holds(path, "itsk/tmpo", "128", "integer")
    holds(path, "itsk/covr", PNG, "data")
    holds(path, "itsk/covr", OTHER, "data")
    holds(path, "itlk/com.apple.iTunes.MOOD", "calm")
    holds(path, "itlk/org.example.A", "b")


def comments(path):
    file = mutagen.File(path)
    file["title"], file["artist"], file["tracknumber"] = "Größe", ["One", "Two"], "3"
    file["own key"] = "=;="
    picture = Picture()
    picture.data, picture.type, picture.mime, picture.desc = PNG, 4, "image/png", "behind"
    if isinstance(file, FLAC):
        file.add_picture(picture)
    else:
        file["metadata_block_picture"] = [base64.b64encode(picture.write()).decode()]
    file.save()
    holds(path, "vorbis/TITLE", "Größe")
    holds(path, "vorbis/ARTIST", "One")
    holds(path, "vorbis/ARTIST", "Two")
    holds(path, "vorbis/TRACKNUMBER", "3")
    holds(path, "vorbis/OWN KEY", "=;=")
    holds(path, "vorbis/METADATA_BLOCK_PICTURE", PNG, "data", details="pictureType=4")
    holds(path, "vorbis/METADATA_BLOCK_PICTURE", PNG, "data", details="info=behind")


def mutagen_flac(folder):
    comments(made(folder, "a.flac"))


def mutagen_opus(folder):
    comments(made(folder, "a.opus", "-c:a", "libopus"))


def mutagen_vorbis(folder):
    comments(made(folder, "a.ogg", "-c:a", "libvorbis"))


def id3(file, version):
    from mutagen import id3 as frames
    tags = file.tags
    for encoding in (0, 1, 3):
        if version == 3 and encoding == 3:
            continue
        tags.add(frames.COMM(encoding=encoding, lang="deu", desc=f"d{encoding}", text=[f"Größe {encoding}"]))
    tags.add(frames.TIT2(encoding=1, text=["Größe 世界"]))
    tags.add(frames.TPE1(encoding=1, text=["One", "Two"]))
    tags.add(frames.TRCK(encoding=0, text=["3/12"]))
    tags.add(frames.TCON(encoding=0, text=["(17)"]))
    tags.add(frames.TXXX(encoding=1, desc="MOOD", text=["calm"]))
    tags.add(frames.USLT(encoding=1, lang="fra", desc="", text="mot"))
    tags.add(frames.WXXX(encoding=0, desc="site", url="http://example.com/"))
    tags.add(frames.PRIV(owner="example", data=bytes([0, 255])))
    tags.add(frames.UFID(owner="base", data=b"id"))
    tags.add(frames.POPM(email="me", rating=196, count=3))
    tags.add(frames.APIC(encoding=1, mime="image/png", type=4, desc="behind", data=PNG))
    tags.add(frames.APIC(encoding=0, mime="image/png", type=3, desc="", data=OTHER))


def check_id3(path, version):
    holds(path, "id3/TIT2", "Größe 世界")
    if version == 4:
        holds(path, "id3/TPE1", "One")
        holds(path, "id3/TPE1", "Two")
    holds(path, "id3/TRCK", "3/12")
    holds(path, "id3/TCON", "Rock")
    holds(path, "id3/TXXX", "calm", details="info=MOOD")
    holds(path, "id3/COMM", "Größe 0", language="deu", details="info=d0")
    holds(path, "id3/COMM", "Größe 1", language="deu", details="info=d1")
    holds(path, "id3/USLT", "mot", language="fra")
    holds(path, "id3/WXXX", "http://example.com/", details="info=site")
    holds(path, "id3/PRIV", bytes([0, 255]), "data", details="owner=example")
    holds(path, "id3/UFID", b"id", "data", details="owner=base")
    holds(path, "id3/POPM", "196", "integer", details="owner=me")
    holds(path, "id3/APIC", PNG, "data", details="pictureType=4")
    holds(path, "id3/APIC", PNG, "data", details="info=behind")
    holds(path, "id3/APIC", OTHER, "data", details="pictureType=3")


def mutagen_mp3(folder):
    for version in (3, 4):
        path = made(folder, f"{version}.mp3")
        file = mutagen.File(path)
        if file.tags is None:
            file.add_tags()
        id3(file, version)
        file.save(v2_version=version)
        check_id3(path, version)


def mutagen_aiff_wav(folder):
    for name in ("a.aiff", "a.wav"):
        path = made(folder, name)
        file = mutagen.File(path)
        if file.tags is None:
            file.add_tags()
        id3(file, 4)
        file.save()
        check_id3(path, 4)


def exiftool_mov(folder):
    for name in ("b.mov", "b.mp4"):
        path = made(folder, name)
        run(["exiftool", "-q", "-overwrite_original", "-charset", "utf8", "-UserData:Title-deu=Größe", "-UserData:Artist=Jemand",
             "-Keys:Title=genannt", "-Keys:Description-fra=mot", "-ItemList:Album=Platte", path])
        holds(path, "udta/©nam", "Größe", language="deu")
        holds(path, "udta/©ART", "Jemand")
        holds(path, "mdta/com.apple.quicktime.title" if by_keys(path) else "mdta/title", "genannt")
        holds(path, "itsk/©alb", "Platte")


def by_keys(path):
    return any(item.identifier == "mdta/com.apple.quicktime.title" for item in read(path))


def mkvpropedit_mkv(folder):
    path = made(folder, "a.mkv")
    tags = os.path.join(folder, "tags.xml")
    with open(tags, "w", encoding="utf-8") as file:
        file.write("""<?xml version="1.0"?><Tags>
            <Tag><Targets><TargetTypeValue>50</TargetTypeValue><TargetType>ALBUM</TargetType></Targets>
            <Simple><Name>TITLE</Name><String>Platte</String><TagLanguage>ger</TagLanguage></Simple>
            <Simple><Name>ARTIST</Name><String>One</String>
            <Simple><Name>SORT_WITH</Name><String>1</String></Simple></Simple>
            <Simple><Name>ARTIST</Name><String>Two</String></Simple></Tag>
            <Tag><Targets><TargetTypeValue>30</TargetTypeValue></Targets>
            <Simple><Name>PART_NUMBER</Name><String>3</String></Simple></Tag></Tags>""")
    picture = os.path.join(folder, "cover.png")
    with open(picture, "wb") as file:
        file.write(PNG)
    run(["mkvpropedit", path, "--edit", "info", "--set", "title=Größe", "--tags", "global:" + tags,
         "--attachment-name", "front.png", "--attachment-mime-type", "image/png", "--attachment-description", "front",
         "--add-attachment", picture])
    holds(path, "matroska/TITLE", "Größe")
    holds(path, "matroska/TITLE", "Platte", language="ger", details="targetLevel=50")
    holds(path, "matroska/TITLE", "Platte", details="targetType=ALBUM")
    holds(path, "matroska/ARTIST", "One")
    holds(path, "matroska/ARTIST", "Two")
    holds(path, "matroska/ARTIST/SORT_WITH", "1")
    holds(path, "matroska/PART_NUMBER", "3", details="targetLevel=30")
    holds(path, "matroska/attached picture", PNG, "data", details="fileName=front.png")
    holds(path, "matroska/attached picture", PNG, "data", details="info=front")


def ffmpeg_wav(folder):
    path = made(folder, "b.wav", "-write_bext", "1", "-metadata", "title=Größe", "-metadata", "artist=Jemand",
                "-metadata", "originator=me", "-metadata", "time_reference=96000", "-metadata", "origination_date=2024-05-06",
                "-metadata", "coding_history=A=PCM")
    holds(path, "riff/INAM", "Größe")
    holds(path, "riff/IART", "Jemand")
    holds(path, "bext/Originator", "me")
    holds(path, "bext/TimeReference", "96000", "integer")
    holds(path, "bext/OriginationDate", "2024-05-06")
    holds(path, "bext/CodingHistory", "A=PCM")


def ffmpeg_3gp(folder):
    path = made(folder, "a.3gp", "-c:a", "aac", "-metadata", "title=Größe", "-metadata:s:a:0", "language=deu")
    run(["ffmpeg", "-v", "error", "-y", "-i", path, "-c", "copy", "-metadata", "title=Größe", path + ".3gp"])
    holds(path + ".3gp", "uiso/titl", "Größe")


def ffmpeg_caf(folder):
    path = made(folder, "a.caf", "-metadata", "title=Größe", "-metadata", "artist=Jemand")
    holds(path, "caaf/title", "Größe")
    holds(path, "caaf/artist", "Jemand")


FOREIGN = [mutagen_m4a, mutagen_flac, mutagen_opus, mutagen_vorbis, mutagen_mp3, mutagen_aiff_wav, exiftool_mov,
           mkvpropedit_mkv, ffmpeg_wav, ffmpeg_3gp, ffmpeg_caf]


def drawing(color):
    return run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"color={color}:s=8x8", "-frames:v", "1", "-f", "image2pipe",
                "-c:v", "png", "-"])


PNG, OTHER = drawing("red"), drawing("blue")

if __name__ == "__main__":
    main()
