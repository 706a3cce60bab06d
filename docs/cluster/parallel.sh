#!/usr/bin/env bash
# Ingests the files of a list in N parts by GNU parallel: on this machine, or on those of a file of ssh's names.
#
#   parallel.sh LIST LIBRARY 16 [OPTION…]                 # options of `mediatool ingest`, such as --base /media
#   NODES=nodes parallel.sh LIST LIBRARY 64 [OPTION…]     # each line of the file: 2/host, for two parts at once there
#
# All machines see LIST, its files and LIBRARY by the same absolute paths. What is made already is kept: after an interruption
# start it again.
set -euo pipefail
list=${1:?the list of files} library=${2:?the folder to fill} parts=${3:?the number of parts}
shift 3
if [ -n "${NODES-}" ]; then
    # A machine that does not answer any more gives its part to another.
    where=(--sshloginfile "$NODES" --retries 3)
else
    where=(--jobs "${JOBS:-50%}")
fi
# The parts are 0 to N - 1. Parallel's own number {#} begins with 1: part 0 would be left out.
seq 0 $((parts - 1)) |
    parallel --will-cite --quote "${where[@]}" \
        mediatool ingest --files-from "$list" --shard "{}/$parts" --resume -o "$library" --threads 2 --retries 1 --quiet "$@"
