"""Carries packets between two network namespaces, late and no faster than a rate: real handshakes at real distances.

    python3 -m checks.network.tunnel PID PID --delay SECONDS [--rate BYTES] --ready FILE

Each PID is a process in one of the namespaces, which gets a device called `far`; the FILE appears when both are there. The
kernel can do this itself (netem), but not every kernel has it. Needs the right to enter the namespaces, and /dev/net/tun.
"""

import argparse
import collections
import ctypes
import fcntl
import os
import select
import struct
import time
from pathlib import Path

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
# Packets without a header of the device's own.
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
# What a router holds back of a line that is too slow, in seconds of it; what is more is dropped, as there.
BUFFERED = 0.15


def device(process):
    """The file of a new device in the namespace of a process."""
    namespace = os.open(f"/proc/{process}/ns/net", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(namespace)
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", b"far", IFF_TUN | IFF_NO_PI))
    return file


class Line:
    """One direction."""

    def __init__(self, source, target, options):
        self.source, self.target = source, target
        self.delay, self.rate = options.delay, options.rate
        self.packets, self.free = collections.deque(), 0.0

    def take(self):
        """Takes what waits in the device."""
        try:
            while True:
                packet = os.read(self.source, 65536)
                now = time.monotonic()
                if not self.rate:
                    self.packets.append((now + self.delay, packet))
                elif self.free - now < BUFFERED:
                    self.free = max(self.free, now) + len(packet) / self.rate
                    self.packets.append((self.free + self.delay, packet))
        except BlockingIOError:
            pass

    def give(self):
        """Hands out what has arrived."""
        while self.packets and self.packets[0][0] <= time.monotonic():
            try:
                os.write(self.target, self.packets[0][1])
            except BlockingIOError:
                return
            except OSError:
                pass
            self.packets.popleft()


def main():
    parser = argparse.ArgumentParser(prog="checks.network.tunnel")
    parser.add_argument("process", type=int, nargs=2)
    parser.add_argument("--delay", type=float, required=True)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--ready", required=True)
    options = parser.parse_args()
    near, far = (device(process) for process in options.process)
    lines = Line(near, far, options), Line(far, near, options)
    Path(options.ready).touch()
    while True:
        wait = min([line.packets[0][0] for line in lines if line.packets], default=None)
        wait = 1.0 if wait is None else max(0.0, wait - time.monotonic())
        readable, _, _ = select.select([near, far], [], [], wait)
        for line in lines:
            if line.source in readable:
                line.take()
            line.give()


if __name__ == "__main__":
    main()
