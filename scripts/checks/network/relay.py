"""Carries connections to other places: late and slowly, or as an HTTP proxy.

    python3 -m checks.network.relay --port N --to HOST:PORT --delay SECONDS [--rate BYTES]
    python3 -m checks.network.relay --port N --proxy --log FILE --name NAME:PORT=HOST:PORT… [--user USER:PASSWORD]

The first is for machines on which nobody may make network namespaces: bytes come `delay` late each way, and the first of a
connection a round trip later, for the handshake that this machine makes at once. The proxy forwards GET and HEAD, and CONNECT;
it knows the given names alone, and notes in the log what it was asked.
"""

import argparse
import asyncio
import base64
import json
import time
from urllib.parse import urlsplit


class Line:
    """One direction of all connections: bytes leave one after the other at the rate, and arrive after the delay."""

    def __init__(self, delay, rate):
        self.delay, self.rate, self.free = delay, rate, 0.0

    def arrival(self, count):
        """When so many bytes that are ready now have arrived."""
        self.free = max(self.free, time.monotonic()) + (count / self.rate if self.rate else 0)
        return self.free + self.delay


async def carry(reader, writer, line=None, late=0.0):
    """Copies until the end, and ends the other side then."""
    queue = asyncio.Queue(64)

    async def deliver():
        while item := await queue.get():
            moment, data = item
            await asyncio.sleep(max(0, moment - time.monotonic()))
            if data is None:
                break
            writer.write(data)
            await writer.drain()
        writer.close()

    task = asyncio.create_task(deliver())
    try:
        while data := await reader.read(16 << 10):
            if line:
                await queue.put((line.arrival(len(data)) + late, data))
                late = 0.0 if not line.rate else late
            else:
                writer.write(data)
                await writer.drain()
    except OSError:
        pass
    await queue.put(((line.arrival(0) if line else 0), None))
    try:
        await task
    except OSError:
        pass


class Relay:
    """Everything goes to one place."""

    def __init__(self, options):
        self.host, _, self.port = options.to.rpartition(":")
        self.up, self.down = Line(options.delay, None), Line(options.delay, options.rate)

    async def talk(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection(self.host, int(self.port))
        except OSError:
            writer.close()
            return
        # The answer to the first bytes is late by the handshake's round trip, which these bytes have waited.
        await asyncio.gather(carry(reader, far_writer, self.up, late=2 * self.up.delay), carry(far_reader, writer, self.down))


class Proxy:
    """An HTTP proxy that knows some names."""

    def __init__(self, options):
        self.names = dict(name.split("=") for name in options.name)
        self.user = options.user and "Basic " + base64.b64encode(options.user.encode()).decode()
        self.log = open(options.log, "a", buffering=1)
        self.connections = 0

    async def talk(self, reader, writer):
        self.connections += 1
        try:
            await self.forward(reader, writer, self.connections)
        except (OSError, ValueError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def forward(self, reader, writer, number):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            lines = head.split("\r\n")
            method, target, _ = lines[0].split(" ")
            allowed = not self.user or any(
                line.lower().startswith("proxy-authorization:") and line.endswith(self.user) for line in lines)
            place = target if method == "CONNECT" else (lambda parts: f"{parts.hostname}:{parts.port or 80}")(urlsplit(target))
            there = self.names.get(place)
            status = 407 if not allowed else 502 if not there else 200
            self.log.write(json.dumps({"time": time.time(), "port": 0, "connection": number, "method": method, "uri": target,
                                       "status": status, "body": 0, "head": head}) + "\n")
            if status != 200:
                writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n"
                             f"{'Proxy-Authenticate: Basic realm=x' + chr(13) + chr(10) if status == 407 else ''}\r\n".encode())
                await writer.drain()
                continue
            host, _, port = there.rpartition(":")
            far_reader, far_writer = await asyncio.open_connection(host, int(port))
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer))
                return
            path = target.split("/", 3)[3] if target.count("/") > 2 else ""
            kept = [line for line in lines[1:-2] if not line.lower().startswith(("proxy-", "connection:"))]
            far_writer.write("\r\n".join([f"{method} /{path} HTTP/1.1", *kept, "Connection: close"]).encode() + b"\r\n\r\n")
            await far_writer.drain()
            # One answer for each connection: the end of the body is that of the connection.
            await carry(far_reader, writer)
            far_writer.close()
            return


def main():
    parser = argparse.ArgumentParser(prog="checks.network.relay")
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--to")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--proxy", action="store_true")
    parser.add_argument("--name", action="append", default=[])
    parser.add_argument("--user")
    parser.add_argument("--log")
    options = parser.parse_args()

    async def serve():
        server = await asyncio.start_server((Proxy if options.proxy else Relay)(options).talk, options.address, options.port)
        async with server:
            await server.serve_forever()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
