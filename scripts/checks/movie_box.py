"""Writes the `moov` box of a file to standard output, for scripts/fuzz."""

import struct
import sys

with open(sys.argv[1], "rb") as file:
    content = file.read()
place = 0
while place + 8 <= len(content):
    size, kind = struct.unpack(">I4s", content[place:place + 8])
    if kind == b"moov":
        sys.stdout.buffer.write(content[place:place + size])
        break
    if size < 8:
        break
    place += size
