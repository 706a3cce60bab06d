"""A server of files that does what no good server does: it cuts bodies short, lies about ranges, dies and comes back.

    python3 -m checks.network.faulty FOLDER --address A --port N --log FILE [--certificate PEM --key KEY]

The address of a file is /TEST/FAULT[:ARGUMENT…]/NAME; FAULTS lists them. Requests are counted for each test, whatever it is
called, so that a fault that passes (`reset:2`) does so once for each.
"""

import argparse
import json
import os
import re
import select
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

ALWAYS = 1 << 30
# One piece of a body; a fault in the middle of a body comes after at least so much.
PIECE = 16 << 10


class Gone(Exception):
    """The connection is at its end."""


class Request:
    """One request, the file that it names, and the answer that a good server gives."""

    def __init__(self, server, client, number, line, fields):
        self.server, self.client, self.connection, self.fields = server, client, number, fields
        self.method, self.target, _ = line.split(" ", 2)
        test, fault, self.name = (self.target.split("?")[0].lstrip("/") + "//").split("/", 2)
        self.fault, *self.arguments = fault.split(":")
        self.status, self.sent, self.begun = 0, 0, time.time()
        file = Path(server.folder, os.path.basename(unquote(self.name.rstrip("/"))))
        self.data = file.read_bytes() if file.is_file() else None
        self.etag = '"one"'
        with server.lock:
            server.counts[test, fault] += 1
            self.count = server.counts[test, fault]

    def argument(self, place=0, default=1):
        """A number after the fault's name; `always` is without end."""
        if len(self.arguments) <= place:
            return default
        return ALWAYS if self.arguments[place] == "always" else int(self.arguments[place])

    @property
    def range(self):
        """(first, end) that is asked for, or None for all."""
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.fields.get("range", ""))
        if not match or match[0] == "bytes=-":
            return None
        size = len(self.data)
        if not match[1]:
            return max(0, size - int(match[2])), size
        return int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)

    def head(self, status, fields):
        self.status = status
        lines = [f"HTTP/1.1 {status} Because"] + [f"{name}: {value}" for name, value in fields.items() if value is not None]
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n", counts=False)

    def send(self, data, counts=True):
        try:
            self.client.sendall(data)
        except OSError as error:
            raise Gone from error
        if counts:
            self.sent += len(data)

    def body(self, data):
        if self.method != "HEAD":
            for start in range(0, len(data), PIECE):
                self.send(data[start:start + PIECE])

    def answer(self, ranges=True, changed=None, extra=None, body=None):
        """What a good server says, but for fields in `changed`; `body` sends what is left of it."""
        if self.data is None:
            return self.refuse(404)
        if_range = self.fields.get("if-range")
        span = self.range if ranges and if_range in (None, self.etag) else None
        if span and span[0] >= len(self.data):
            self.head(416, {"Content-Range": f"bytes */{len(self.data)}", "Content-Length": 0})
            return None
        first, end = span or (0, len(self.data))
        fields = {"Content-Type": "application/octet-stream", "ETag": self.etag, "Content-Length": end - first,
                  "Accept-Ranges": "bytes" if ranges else "none"}
        if span:
            fields["Content-Range"] = f"bytes {first}-{end - 1}/{len(self.data)}"
        self.head(206 if span else 200, fields | (changed(first, end) if changed and span else {}) | (extra or {}))
        (body or self.body)(self.data[first:end])
        return None

    def refuse(self, status, extra=None):
        text = f"no: {status}\n".encode()
        self.head(status, {"Content-Type": "text/plain", "Content-Length": len(text)} | (extra or {}))
        self.body(text)

    def half(self, data):
        """Half of a body."""
        self.body(data[:len(data) // 2])

    def cut(self, with_reset):
        """Ends the connection, by a reset or in an orderly way."""
        if with_reset:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # Until the client has taken what was sent: a reset throws away what waits in its socket.
            time.sleep(0.05)
        raise Gone

    def pause(self, seconds):
        """Says nothing for so long; a client that goes meanwhile is noticed."""
        readable, _, _ = select.select([self.client], [], [], seconds)
        # No client has anything to say before it has its answer but that it goes.
        if readable:
            raise Gone

    def wait(self):
        """Says nothing until the client has gone."""
        self.pause(120)
        raise Gone

    def log(self):
        entry = {"time": self.begun, "port": self.server.port, "protocol": "HTTP/1.1", "connection": self.connection,
                 "method": self.method, "uri": self.target, "host": self.fields.get("host", ""),
                 "range": self.fields.get("range", ""), "if_range": self.fields.get("if-range", ""),
                 "authorization": self.fields.get("authorization", ""), "status": self.status, "body": self.sent}
        self.server.note(entry)


def plain(request):
    request.answer()


def reset(request):
    """reset:N  the first N bodies end with a reset half way."""
    broken(request, with_reset=True)


def short(request):
    """short:N  the first N bodies end half way, though Content-Length says more."""
    broken(request, with_reset=False)


def broken(request, with_reset):
    if request.count > request.argument():
        return request.answer()
    request.answer(body=request.half)
    return request.cut(with_reset)


def silent(request):
    """silent:N  the first N requests get no answer: the connection ends."""
    if request.count <= request.argument():
        request.cut(with_reset=False)
    request.answer()


def status(request):
    """status:CODE:N[:SECONDS]  the first N are refused with that code, and a Retry-After where SECONDS are given."""
    if request.count > request.argument(1, ALWAYS):
        return request.answer()
    return request.refuse(request.argument(), {"Retry-After": request.arguments[2]} if len(request.arguments) > 2 else None)


def dies(request):
    """dies:N:SECONDS  in the middle of body N the server goes, with all connections, and comes back after so many tenths."""
    if request.count != request.argument():
        return request.answer()
    request.answer(body=request.half)
    request.server.absent(request.argument(1, 10) / 10)
    return request.cut(with_reset=True)


def drip(request):
    """drip:N  N bytes each tenth of a second."""
    def body(data):
        step = request.argument(0, 1000)
        for start in range(0, len(data), step):
            request.send(data[start:start + step])
            request.pause(0.1)
    request.answer(body=body)


def stall(request):
    """stall  the head and half of the body, and then nothing."""
    def body(data):
        request.half(data)
        request.wait()
    request.answer(body=body)


def deaf(request):
    """deaf  not a byte."""
    request.wait()


def changes(request):
    """changes:N[:ignorant]  after N requests the file is another one of the same size; an ignorant server has no If-Range."""
    if request.count > request.argument():
        request.etag = '"two"'
        request.data = request.data and request.data[:100] + bytes(255 - byte for byte in request.data[100:])
        if "ignorant" in request.arguments:
            request.fields.pop("if-range", None)
    request.answer()


def grows(request):
    """grows:N  after N requests the file is longer, and has no ETag."""
    if request.count > request.argument():
        request.data = request.data and request.data + bytes(1000)
    request.etag = None
    request.answer()


def noranges(request):
    """noranges  the whole file whatever is asked for."""
    request.answer(ranges=False)


def chunked(request):
    """chunked  the whole file in chunks, without its length."""
    def body(data):
        for start in range(0, len(data), PIECE):
            piece = data[start:start + PIECE]
            request.send(f"{len(piece):x}\r\n".encode(), counts=False)
            request.send(piece)
            request.send(b"\r\n", counts=False)
        request.send(b"0\r\n\r\n", counts=False)
    request.answer(ranges=False, extra={"Content-Length": None, "Transfer-Encoding": "chunked"}, body=body)


def badrange(request):
    """badrange:KIND  a Content-Range that cannot be: text, missing, shifted, small, unknown (the size: that one is allowed)."""
    size = len(request.data or b"")
    kinds = {
        "text": lambda first, end: {"Content-Range": "bytes all of it"},
        "missing": lambda first, end: {"Content-Range": None},
        "shifted": lambda first, end: {"Content-Range": f"bytes {first + 1}-{end}/{size}"},
        "small": lambda first, end: {"Content-Range": f"bytes {first}-{end - 1}/{(end - first) // 2}"},
        "huge": lambda first, end: {"Content-Range": f"bytes {first}-{end - 1}/99999999999999999999999999"},
        "unknown": lambda first, end: {"Content-Range": f"bytes {first}-{end - 1}/*"},
    }
    request.answer(changed=kinds[request.arguments[0]])


def otherrange(request):
    """otherrange  a range that nobody asked for, and says so."""
    if span := request.range:
        first = span[0] + 1000 if span[0] + 2000 < len(request.data) else max(0, span[0] - 1000)
        request.fields["range"] = f"bytes={first}-{first + max(1, span[1] - span[0]) - 1}"
    request.answer()


def zipped(request):
    """zipped  claims that the range is compressed."""
    request.answer(extra={"Content-Encoding": "gzip"})


def headers(request):
    """headers:N  N lines of head of 1000 bytes each; `always` never ends."""
    request.status = 200
    request.send(b"HTTP/1.1 200 Because\r\n", counts=False)
    for number in range(request.argument()):
        request.send(f"X-{number}: {'x' * 990}\r\n".encode())
    request.send(f"Content-Length: {len(request.data)}\r\n\r\n".encode(), counts=False)
    request.body(request.data)


def garbage(request):
    """garbage  no HTTP."""
    request.send(b"\x16\x03\x01" + os.urandom(400))
    raise Gone


def getonly(request):
    """getonly  refuses HEAD, as addresses that are signed for GET do."""
    if request.method == "HEAD":
        return request.refuse(403)
    return request.answer()


def moved(request):
    """moved:N  redirects N times, and then is there."""
    if request.count > request.argument():
        return request.answer()
    return request.refuse(302, {"Location": request.target})


FAULTS = {function.__name__: function for function in (
    plain, reset, short, silent, status, dies, drip, stall, deaf, changes, grows, noranges, chunked, badrange, otherrange, zipped,
    headers, garbage, getonly, moved)}


class Server:
    """Listens, and answers each connection in a thread of its own."""

    def __init__(self, options):
        self.folder, self.address, self.port = options.folder, options.address, options.port
        self.counts, self.lock = Counter(), threading.Lock()
        self.file = open(options.log, "a", buffering=1)
        self.context = None
        if options.certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(options.certificate, options.key)
        self.open, self.away = set(), 0.0

    def note(self, entry):
        with self.lock:
            self.file.write(json.dumps(entry) + "\n")

    def absent(self, seconds):
        """Nobody is there for a while: all connections end, new ones are refused."""
        with self.lock:
            self.away = seconds
            others = list(self.open)
        self.listener.shutdown(socket.SHUT_RDWR)
        for each in others:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def serve(self):
        number = 0
        while True:
            self.listener = socket.create_server((self.address, self.port), backlog=64)
            while True:
                try:
                    client, _ = self.listener.accept()
                except OSError:
                    break
                number += 1
                threading.Thread(target=self.talk, args=(client, number), daemon=True).start()
            self.listener.close()
            time.sleep(self.away)

    def talk(self, client, number):
        try:
            if self.context:
                client = self.context.wrap_socket(client, server_side=True)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.open.add(client)
            # Closed before the connection is, which otherwise stays open for it.
            with client.makefile("rb") as reader:
                while head := read_head(reader):
                    request = Request(self, client, number, *head)
                    try:
                        FAULTS.get(request.fault, plain)(request)
                    finally:
                        request.log()
                    if request.fields.get("connection", "").lower() == "close":
                        break
        except (Gone, OSError, ValueError):
            pass
        finally:
            with self.lock:
                self.open.discard(client)
            client.close()


def read_head(reader):
    """The first line and the fields, or None where there are none."""
    lines = []
    while (line := reader.readline(65537)) not in (b"\r\n", b"\n", b""):
        lines.append(line.decode("latin-1").strip())
    if not lines:
        return None
    fields = dict(line.split(":", 1) for line in lines[1:] if ":" in line)
    return lines[0], {name.strip().lower(): value.strip() for name, value in fields.items()}


def main():
    parser = argparse.ArgumentParser(prog="checks.network.faulty")
    parser.add_argument("folder")
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    Server(parser.parse_args()).serve()


if __name__ == "__main__":
    main()
