"""The build, the tests and every command's results in another release of Debian: see scripts/check.

The release lies in a folder that debootstrap fills. Commands run there in a mount namespace of their own, with this
system's Swift toolchain and copies of Swift packages bound into it, and with a build folder and fixtures of their own.
"""

import argparse
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy

from . import results
from .tools import CALLER, ROOT, run

PARTS = ("build", "test", "differences")
# What the toolchain needs besides the packages of scripts/setup.
TOOLCHAIN = ("ca-certificates git gcc g++ libc6-dev binutils libcurl4 libedit2 libsqlite3-0 libncurses6 libxml2 "
             "zlib1g-dev tzdata procps strace make python3-dev").split()
# Where a root holds libraries that only the toolchain needs and that the release has no more.
BESIDE = "opt/beside"
# Points of decoders that sum floats may be one unit off, measurements a ten-thousandth of a decibel.
POINT, MEASURE = 1, 1e-4
# How many values a command's line names.
SHOWN = 4


# --- The root -------------------------------------------------------------------------------------------------------


def prepare(root, release, mirror):
    """Fills the folder with the release and what is built and tested with; does nothing where that is done."""
    if (root / ".complete").exists():
        return
    say(f"filling {root} with {release} …")
    if not (root / ".bootstrapped").exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        quietly(["debootstrap", "--variant=minbase", "--include=ca-certificates", release, str(root), *mirror])
        (root / ".bootstrapped").touch()
    for name in ("etc/resolv.conf", "etc/hosts", "etc/gitconfig", "etc/gitignore", "etc/pip.conf"):
        if Path("/", name).is_file():
            shutil.copy(Path("/", name), root / name)
    # A release that is not made any more, or a machine with another date, is as good for this.
    (root / "etc/apt/apt.conf.d/90check").write_text(
        'Acquire::Check-Valid-Until "false";\nAcquire::Check-Date "false";\nAPT::Install-Recommends "false";\n')
    packages = " ".join(sorted({*TOOLCHAIN, *setup_packages()}))
    # A release may have a package no more, or not yet.
    inside(root, f"export DEBIAN_FRONTEND=noninteractive; apt-get update -q && for name in {packages}; do "
                 'apt-get install -s "$name" >/dev/null && chosen+=("$name"); done; apt-get install -y -q "${chosen[@]}"', quiet=True)
    beside(root)
    (root / ".complete").touch()


def setup_packages():
    """The names that scripts/setup installs."""
    script = '. scripts/setup; echo "${setup_build_packages[@]} ${setup_test_packages[@]}"'
    return run(["bash", "-c", script], cwd=ROOT).decode().split()


def beside(root):
    """Copies the libraries that the toolchain needs and that this system has and the release has not."""
    folder = root / BESIDE
    folder.mkdir(parents=True, exist_ok=True)
    tools = " ".join(str(toolchain() / "usr/bin" / name) for name in ("swift-frontend", "swift-build", "swift-package", "lld"))
    known = dict(re.findall(r"^\s*(\S+) .*=> (\S+)$", run(["/sbin/ldconfig", "-p"]).decode(), re.M))
    while True:
        text = inside(root, f"ldd {tools} /{BESIDE}/* 2>/dev/null", check=False, quiet=True)
        missing = [name for name in set(re.findall(r"(\S+) => not found", text)) if name in known]
        if not missing:
            return
        for name in missing:
            shutil.copy(known[name], folder / name)


def link_media(root):
    """Makes the folder of real media beside the tree a link in the root, too, where it is one here."""
    beside_tree = os.path.abspath(os.path.join(ROOT, "..", "shared"))
    there = Path(str(root) + beside_tree)
    if os.path.islink(beside_tree) and not os.path.lexists(there):
        there.parent.mkdir(parents=True, exist_ok=True)
        there.symlink_to(os.path.realpath(beside_tree))


def toolchain():
    """The folder whose usr/bin has swift."""
    return Path(os.path.realpath(shutil.which("swift"))).parents[2]


def bound():
    """The folders of this system that are there too, for reading: the toolchain, copies of packages, wheels, media."""
    places = [toolchain(), Path(ROOT, "../shared").resolve()]
    config = run(["git", "config", "--get-regexp", r"^url\..*\.insteadof$"], check=False).stdout.decode()
    places += [Path(place) for place in re.findall(r"^url\.(/.*?)\.insteadof ", config, re.M | re.I)]
    places += [Path(place) for place in os.environ.get("PIP_FIND_LINKS", "").split() if place.startswith("/")]
    return [place for place in dict.fromkeys(places) if place.is_dir()]


# Run by a shell in a mount namespace of its own; $1 is the root, $2 the tree, $3 the folder kept for the tree's
# outputs, $4 the command, further ones are folders to bind. The root is pivoted to and not only changed to, so that
# the tests can make user namespaces there.
ENTER = r"""
set -e
mount --make-rprivate /
root=$1 tree=$2 kept=$3 command=$4
shift 4
mount --rbind "$root" "$root"
mkdir -p "$root$tree" "$kept/build" "$kept/fixtures" "$tree/.build" "$tree/fixtures"
mount --bind "$tree" "$root$tree"
mount --bind "$kept/build" "$root$tree/.build"
mount --bind "$kept/fixtures" "$root$tree/fixtures"
for place; do
    mkdir -p "$root$place"
    mount --bind "$place" "$root$place"
    mount -o remount,bind,ro "$root$place"
done
for place in /proc /dev /sys; do mount --rbind "$place" "$root$place"; done
for file in ${CERTIFICATES-}; do
    mkdir -p "$root${file%/*}"
    [ -e "$root$file" ] || touch "$root$file"
    mount --bind "$file" "$root$file"
done
cd "$root"
pivot_root . .
umount -l .
cd "$tree"
exec bash -c "$command"
"""


def inside(root, command, check=True, quiet=False, places=()):
    """Runs a shell command in the root, in the tree's folder, and gives its exit code; its output where it is quiet."""
    certificates = [file for file in {os.environ.get("PIP_CERT"), os.environ.get("SSL_CERT_FILE")} if file]
    environment = {name: value for name, value in os.environ.items()
                   if name.startswith(("PIP_", "SSL_", "LANG", "HOME", "TERM", "CI", "MEDIATOOL_WARN"))}
    environment |= {"PATH": f"{toolchain()}/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                    "LD_LIBRARY_PATH": f"/{BESIDE}", "CERTIFICATES": " ".join(certificates)}
    result = subprocess.run(
        ["unshare", "--mount", "bash", "-c", ENTER, "enter", str(root), ROOT, str(root) + "-outputs", command,
         *map(str, [*bound(), *places])], env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if quiet else None, stderr=subprocess.STDOUT if quiet else None, check=False)
    text = (result.stdout or b"").decode(errors="replace")
    if check and result.returncode:
        raise SystemExit(f"{text[-3000:]}\nended with {result.returncode}: {command[:200]}")
    return text if quiet else result.returncode


def quietly(command):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if result.returncode:
        raise SystemExit(f"{result.stdout[-3000:].decode(errors='replace')}\n{shlex.join(command)} ended with {result.returncode}")


# --- The parts ------------------------------------------------------------------------------------------------------


def build(root, options):
    return inside(root, "scripts/mediatool --version", check=False)


def test(root, options):
    return inside(root, "scripts/test", check=False)


def differences(root, options):
    """Runs all commands over the same files there and here, and prints what differs."""
    program = os.environ.get("MEDIATOOL_BINARY") or os.path.join(ROOT, ".build/release/mediatool")
    if program == os.path.join(ROOT, ".build/release/mediatool"):
        quietly([os.path.join(ROOT, "scripts/build")])
    results.MEDIATOOL = program
    folders = [os.path.abspath(folder) for folder in options.folder] or standard_folders()
    media = [Path(f"/media/{Path(folder).name}") for folder in folders]
    there = Path(str(root) + "-outputs", "build/results.json")
    program = shlex.quote(options.program or ".build/release/mediatool")
    command = "scripts/build && " if not options.program else ""
    binds = " && ".join(f"mkdir -p {place} && mount --bind {shlex.quote(folder)} {place}" for folder, place in zip(folders, media))
    inside(root, f"{binds} && {command}export MEDIATOOL_BINARY=$PWD/{program} && cd scripts && "
                 f"python3 -B -m checks.results --file {shlex.quote(options.file)} --into ../.build/results.json "
                 + " ".join(map(str, media)), places=folders)
    here = results.collected(folders, options.file)
    return told(compare(here, json.loads(there.read_text())), known(options.release))


def standard_folders():
    corpus = os.path.abspath(os.path.join(ROOT, "..", "shared", "corpus"))
    quietly([os.path.join(ROOT, "scripts/fixtures")])
    return [os.path.join(ROOT, "fixtures")] + ([corpus] if os.path.isdir(corpus) else [])


def compare(here, there):
    """(file, command, place, value here, value there) of everything that differs."""
    for name in sorted(here.keys() | there.keys()):
        for command in results.COMMANDS:
            ours, theirs = here.get(name, {}).get(command, {}), there.get(name, {}).get(command, {})
            for place in sorted(ours.keys() | theirs.keys()):
                one, other = ours.get(place), theirs.get(place)
                if one != other and not is_noise(place, one, other):
                    yield name, command, place, shown(place, one), shown(place, other)


def is_noise(place, one, other):
    """Whether two values are as near as two decoders' sums of floats are."""
    if place.endswith(" peaks") and one and other:
        first, second = points(one), points(other)
        return len(first) == len(second) and int(abs(first - second).max(initial=0)) <= POINT
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= MEASURE
    return False


def points(packed):
    return numpy.frombuffer(zlib.decompress(bytes.fromhex(packed)), "<i2").astype(int)


def shown(place, value):
    if place.endswith(" peaks") and value:
        return f"{len(points(value))} points"
    return "nothing" if value is None else str(value)[:80]


def known(release):
    """The rows of the table in docs/platforms.md for a release: patterns of files, commands and places, and the reason."""
    text = Path(ROOT, "docs/platforms.md").read_text().split("## Known differences", 1)[1]
    rows = [line.strip("|").replace("`", "").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [(*(cell.split() for cell in row[1:4]), row[4].strip()) for row in rows if len(row) == 5 and release in row[0].split()]


def reason_of(table, difference):
    """Why a difference is known, by the first row whose patterns fit; None where none does."""
    for *patterns, why in table:
        if all(any(fnmatch.fnmatchcase(text, pattern.replace("[", "[[]")) for pattern in some)
               for text, some in zip(difference, patterns)):
            return why
    return None


def told(found, table):
    """Prints the differences, new ones first; 1 where there are any."""
    by_reason, new = {}, {}
    for name, command, place, one, other in found:
        reason = reason_of(table, (name, command, place.replace(" ", ".")))
        if reason:
            by_reason.setdefault(reason, set()).add(name)
        else:
            new.setdefault((name, command), []).append(f"{place}: {one} here, {other} there")
    for (name, command), lines in new.items():
        more = f"; and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
        print(f"NEW   {command:9} {name}  {'; '.join(lines[:SHOWN])}{more}")
    for reason, names in by_reason.items():
        print(f"known {reason}: {', '.join(sorted(names))}")
    files = {name for name, _ in new}
    print(f"{len(files)} files with new differences, {len(by_reason)} known reasons")
    return 1 if new else 0


def say(text):
    print(text, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(prog="scripts/check release", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", help="a name that debootstrap knows, such as trixie or sid")
    parser.add_argument("--root", help="the folder of the release, kept for the next time (default: .build/roots/RELEASE)")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--mirror", action="append", default=[], help="where the packages are (default: debootstrap's own)")
    parser.add_argument("--folder", action="append", default=[], help="media to compare: fixtures and corpus when not given")
    parser.add_argument("--file", default="", help="only files whose name holds this")
    parser.add_argument("--program", help="the program in the root, by its path below the tree, instead of a release build")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if set(chosen) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(set(chosen) - set(PARTS)))}")
    if os.geteuid() != 0:
        say("scripts/check release: not run, since it needs root")
        return 77
    if not shutil.which("debootstrap"):
        say("scripts/check release: not run, since there is no debootstrap: apt-get install debootstrap")
        return 69
    os.chdir(CALLER)
    root = Path(options.root or os.path.join(ROOT, ".build/roots", options.release)).resolve()
    prepare(root, options.release, options.mirror)
    link_media(root)
    failed = [part for part in chosen if PART_FUNCTIONS[part](root, options)]
    say(f"{options.release}: " + ", ".join(f"{part} {'failed' if part in failed else 'passed'}" for part in chosen))
    return 1 if failed else 0


PART_FUNCTIONS = {"build": build, "test": test, "differences": differences}

if __name__ == "__main__":
    sys.exit(main())
