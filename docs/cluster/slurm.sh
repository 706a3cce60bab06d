#!/usr/bin/env bash
# Ingests the files of a list as an array of Slurm: task K of N works on part K, on any node, as often as it is started.
#
#   sbatch --array=0-63 slurm.sh LIST LIBRARY 64 [OPTION…]      # options of `mediatool ingest`, such as --base /media
#   sbatch --array=3,17 slurm.sh LIST LIBRARY 64                # single tasks again: the number of parts stays
#   sbatch --array=0-999 slurm.sh LIST LIBRARY 2000 --shard-base=-1000      # parts 1000 to 1999, where arrays end at 1000 tasks
#
# All nodes see LIST, its files and LIBRARY by the same paths.
#SBATCH --job-name=ingest
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
# A task whose node dies begins again elsewhere, and keeps what is made.
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=ingest-%A-%a.log
set -euo pipefail
list=${1:?the list of files} library=${2:?the folder to fill} parts=${3:?the number of parts}
shift 3
# With exec, signals of Slurm reach the program, which then removes what is not complete.
exec mediatool ingest --files-from "$list" --shard "auto/$parts" --resume -o "$library" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --retries 1 --quiet "$@"
