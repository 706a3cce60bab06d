"""Damages the bytes of media files, by chance but repeatably."""

import re
import struct

# Where these stand, the four bytes before them are a size.
BOXES = re.compile(
    b"moov|trak|mdia|minf|stbl|stsd|stts|ctts|stsc|stsz|stz2|stco|co64|stss|elst|edts|mvhd|tkhd|mdhd|hdlr|avcC|hvcC|esds"
    b"|moof|traf|trun|tfhd|sidx|udta|meta|ilst|clap|tapt|tref|dref|mdat|ftyp|colr|fiel|sbgp|sgpd|chpl|tmcd|wave")
EXTREMES = (0, 1, 7, 8, 15, 16, 0x7F, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8,
            0xFFFFFFFF)


def place(random, data, near_ends=True):
    """An offset, half of the time near an end, where headers and tables lie."""
    last = max(0, len(data) - 1)
    if near_ends and random.random() < 0.5:
        distance = min(last, int(4096 * random.random() ** 2))
        return distance if random.random() < 0.6 else last - distance
    return random.randint(0, last)


def flip_bits(random, data, _):
    for _ in range(int(2 ** random.uniform(0, 8))):
        data[place(random, data)] ^= 1 << random.randrange(8)


def set_number(random, data, _):
    for _ in range(random.randint(1, 4)):
        width, form = random.choice(((1, "B"), (2, "H"), (4, "I"), (8, "Q")))
        at = place(random, data)
        value = random.choice(EXTREMES) % (1 << 8 * width)
        data[at:at + width] = struct.pack(random.choice("<>") + form, value)[:len(data) - at]


def set_box_size(random, data, _):
    boxes = [match.start() for match in BOXES.finditer(bytes(data)) if match.start() >= 4]
    if not boxes:
        return set_number(random, data, _)
    for at in random.sample(boxes, min(len(boxes), random.randint(1, 3))):
        if random.random() < 0.3:  # a count or number behind the name
            at += 4 * random.randint(2, 8)
        old = int.from_bytes(data[at - 4:at], "big")
        new = random.choice((*EXTREMES, old + 1, old - 1, old * 2, old // 2, len(data)))
        data[at - 4:at] = struct.pack(">I", new % (1 << 32))


def rename_box(random, data, _):
    boxes = [match.start() for match in BOXES.finditer(bytes(data))]
    if len(boxes) < 2:
        return flip_bits(random, data, _)
    a, b = random.sample(boxes, 2)
    data[a:a + 4] = data[b:b + 4]


def truncate(random, data, _):
    del data[max(1, place(random, data)):]


def zero(random, data, _):
    at = place(random, data)
    count = min(len(data) - at, int(2 ** random.uniform(2, 15)))
    data[at:at + count] = bytes([random.choice((0, 0, 0xFF))]) * count


def insert(random, data, _):
    at = place(random, data)
    data[at:at] = random.randbytes(int(2 ** random.uniform(0, 10)))


def remove(random, data, _):
    at = place(random, data)
    del data[at:at + int(2 ** random.uniform(0, 12))]
    if not data:
        data.append(0)


def repeat(random, data, _):
    begin, at = place(random, data), place(random, data)
    data[at:at] = data[begin:begin + int(2 ** random.uniform(2, 16))]


def splice(random, data, other):
    at, begin = place(random, data), place(random, other)
    if random.random() < 0.5:
        data[at:] = other[begin:]
    else:
        piece = other[begin:begin + int(2 ** random.uniform(4, 16))]
        data[at:at + len(piece)] = piece


KINDS = (flip_bits, flip_bits, set_number, set_number, set_box_size, set_box_size, rename_box, truncate, zero, insert,
         remove, repeat, splice)


def damaged(random, content, other):
    """A damaged copy of `content`, in which parts of `other` may stand, and what was done to it."""
    data = bytearray(content or b"\0")
    kinds = random.choices(KINDS, k=random.choice((1, 1, 2, 3)))
    for kind in kinds:
        kind(random, data, other or b"\0")
    return bytes(data), "+".join(kind.__name__ for kind in kinds)
