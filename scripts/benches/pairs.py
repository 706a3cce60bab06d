"""Runs two commands in turn; prints their seconds, memory and ratio; ends with 1 when ratio or memory is over its goal."""

import os
import shlex
import statistics
import sys
import time

rounds, name, goal, memory, ours, peer = sys.argv[1:]


def warm(path):
    space = bytearray(1 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(space):
            pass


def run(command):
    words = shlex.split(command)
    for word in words:
        if os.path.isfile(word):
            warm(word)
    begun = time.monotonic()
    child = os.posix_spawnp(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"{command}: exit {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - begun, usage.ru_maxrss / 1024


run(ours)
if int(rounds) > 1:
    run(peer)
rounds = [(run(ours), run(peer)) for _ in range(int(rounds))]
ratios = sorted(a[0] / b[0] for a, b in rounds)
ratio, (peak, peers) = statistics.median(ratios), (max(run[1] for run in runs) for runs in zip(*rounds))
mine, theirs = (statistics.median(times) for times in zip(*((a[0], b[0]) for a, b in rounds)))
bad = ratio > float(goal) or peak > float(memory)
print(f"{name:16} mediatool {mine:6.2f} s, {peak:3.0f} MB   {os.path.basename(shlex.split(peer)[0])} "
      f"{theirs:6.2f} s, {peers:3.0f} MB   ratio {ratio:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}, goal {float(goal):.2f})"
      f"{'  over' if bad else ''}", flush=True)
sys.exit(bad)
