#!/usr/bin/env bash
# Ingests the files of a list as an array job of AWS Batch: child K of N works on part K.
#
#   aws-batch.sh IMAGE QUEUE FILESYSTEM LIST LIBRARY 64 [OPTION…]      # options of `mediatool ingest`, such as --base /data/media
#
# IMAGE is that of the Containerfile, QUEUE a job queue, FILESYSTEM an EFS of its machines (fs-…), which is mounted as /data: LIST and
# LIBRARY are paths in there. N is 2 to 10,000. It needs aws and jq.
set -euo pipefail
image=${1:?the image} queue=${2:?the queue} files=${3:?the file system} list=${4:?the list of files}
library=${5:?the folder to fill} parts=${6:?the number of parts}
shift 6
# Children are numbered from 0 in AWS_BATCH_JOB_ARRAY_INDEX; --shard-base is for arrays that begin with another number.
# shellcheck disable=SC2016
properties=$(jq -cn --arg image "$image" --arg files "$files" '{
    image: $image, command: $ARGS.positional,
    resourceRequirements: [{type: "VCPU", value: "2"}, {type: "MEMORY", value: "4096"}],
    volumes: [{name: "data", efsVolumeConfiguration: {fileSystemId: $files, transitEncryption: "ENABLED"}}],
    mountPoints: [{sourceVolume: "data", containerPath: "/data"}]
}' --args -- mediatool ingest --files-from "$list" --shard "auto/$parts" --resume -o "$library" --retries 1 --quiet "$@")
# A child that lost its machine begins again and keeps what is made. Exit codes 1, 2 and 64 would be the same the next time.
retries='{"attempts": 5, "evaluateOnExit": [
    {"onExitCode": "1", "action": "EXIT"}, {"onExitCode": "2", "action": "EXIT"}, {"onExitCode": "64", "action": "EXIT"},
    {"onReason": "*", "action": "RETRY"}]}'
aws batch register-job-definition --job-definition-name mediatool-ingest --type container \
    --container-properties "$properties" --retry-strategy "$retries"
aws batch submit-job --job-name mediatool-ingest --job-queue "$queue" --job-definition mediatool-ingest \
    --array-properties "size=$parts"
