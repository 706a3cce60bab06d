"""Prints the medians of a benchmark's rounds by hyperfine's JSON and their ratio; ends with 1 when it is over the goal."""

import json
import os
import statistics
import sys

name, goal, peer, *paths = sys.argv[1:]
rounds = [[result["median"] for result in json.load(open(path))["results"]] for path in paths]
more = goal.startswith("+")
ratios = sorted((ours - theirs) * 1000 if more else ours / theirs for ours, theirs in rounds)
ratio = statistics.median(ratios)
ours, theirs = (statistics.median(times) * 1000 for times in zip(*rounds))
verdict = "" if ratio <= float(goal) else "  over"
print(f"{name:14} mediatool {ours:8.1f} ms   {os.path.basename(peer)} {theirs:8.1f} ms   "
      f"{'more' if more else 'ratio'} {ratio:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}, goal {float(goal):.2f}){verdict}")
sys.exit(bool(verdict))
