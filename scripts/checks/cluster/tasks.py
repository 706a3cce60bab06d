"""The scripts of docs/cluster without their engines: variables are set, commands are taken out of files, and run here."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from .. import ingest
from ..batch import VARIABLES, fnv
from ..programs import MEDIATOOL
from ..tools import ROOT, expect, run

SCRIPTS = Path(ROOT, "docs/cluster")
PARTS = 3
SECONDS = 600
# The processes that were started, so that they end with the check.
started = []


def write_recipe(folder):
    """The usual recipe in a file, as a user has it who changes something in it."""
    path = Path(folder, "recipe.yml")
    path.write_bytes(run([MEDIATOOL, "ingest", "--show-recipe"]))
    return path


class Library:
    """A folder of media with its list, and what a plain run makes of it."""

    def __init__(self, work, files, parts, has_bad=False):
        """Copies the files into an empty folder `work`, and ingests them; with `has_bad` some may fail."""
        self.work, self.media, self.list = Path(work), Path(work, "media"), Path(work, "list")
        self.media.mkdir()
        self.programs = self.work / "bin"
        self.programs.mkdir()
        (self.programs / "mediatool").symlink_to(os.path.abspath(MEDIATOOL))
        self.parts, names = {}, []
        for place, file in enumerate(files):
            # Two folders, and names that are in both.
            folder = self.media / f"reel {place % 2}"
            folder.mkdir(exist_ok=True)
            path = folder / f"{place // 2:03}{Path(file).suffix}"
            shutil.copy(file, path)
            # The names in the list are relative, so that they and the parts are the same in each run.
            name = path.relative_to(self.work)
            self.parts.setdefault(fnv(os.fsencode(name)) % parts, []).append(name.relative_to("media"))
            names.append(os.fsencode(name) + b"\n")
        self.list.write_bytes(b"".join(names))
        self.count = len(files)
        self.codes = (0, 2) if has_bad else (0,)
        write_recipe(self.work)
        self.plain = self.work / "plain"
        self.command(["mediatool", "ingest", "--files-from", self.list, "-o", self.plain, "--quiet", *self.options])
        self.wanted = contents(self.plain)
        expect(len(self.wanted) == self.count, f"a plain run makes {len(self.wanted)} of {self.count} folders")

    @property
    def options(self):
        return ["--base", "media", "--recipe", "recipe.yml"]

    def environment(self, **variables):
        kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        return kept | {"PATH": f"{self.programs}:{os.environ['PATH']}"} | variables

    def start(self, command, **variables):
        """Starts a command with the program on its path and the variables of no engine but these."""
        process = subprocess.Popen(list(map(str, command)), cwd=self.work, env=self.environment(**variables), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        started.append(process)
        return process

    def command(self, command, **variables):
        """Runs a command that has to succeed."""
        process = self.start(command, **variables)
        printed, _ = process.communicate(timeout=SECONDS)
        expect(process.returncode in self.codes, f"{command[0]} ended with {process.returncode}: {printed.decode(errors='replace')[-300:]}")

    def compare(self, library):
        """The folder has what a plain run makes; gives the number of hidden files of tasks that were killed."""
        made = contents(library)
        expect(set(made) == set(self.wanted), f"{len(made)} folders, {len(self.wanted)} wanted")
        hidden = 0
        for name, files in made.items():
            left = [file for file in files if file.endswith(".partial")]
            hidden += len(left)
            for file in left:
                files.pop(file)
            wanted = self.wanted[name]
            expect(files == wanted, f"{name}: {sorted(one for one in files.keys() | wanted.keys() if files.get(one) != wanted.get(one))} differ")
        report = json.loads(run([MEDIATOOL, "ingest", "report", library, "--json"]))
        expect(report["files"] == self.count and not report["unfinished"], f"the report counts {report['files']} files")
        expect(report["complete"] == self.count or 2 in self.codes, f"the report counts {report['complete']} complete")
        return hidden

    def whole(self, library):
        """The number of files that are there so far; each is whole."""
        seen = 0
        for name, wanted in self.wanted.items():
            folder = Path(library, name)
            for file, data in wanted.items():
                # The page and the manifest are of a moment, and are compared at the end.
                if isinstance(data, bytes) and file != "index.html" and (folder / file).exists():
                    there = (folder / file).read_bytes()
                    same = len(os.path.commonprefix([there, data]))
                    expect(there == data, f"{name}/{file} has {len(there)} bytes in place of {len(data)}; {same} are the same")
                    seen += 1
        return seen


def end_all():
    """Ends what is still running."""
    for process in started:
        if process.poll() is None:
            # mediatool ends its workers, and parallel its jobs.
            process.terminate()
    for process in started:
        try:
            process.communicate(timeout=10)
        except (subprocess.TimeoutExpired, ValueError):
            process.kill()


def contents(library):
    """The folders of ingested files below a folder, with their files."""
    places = sorted({path.parent for name in ("manifest.json", "error.json") for path in Path(library).rglob(name)})
    found = {str(place.relative_to(library)): ingest.contents(place) for place in places}
    for files in found.values():
        if "error.json" in files:
            files["error.json"] = {key: value for key, value in json.loads(files["error.json"]).items() if key != "created"}
    return found


def each_task(library, made, command, variable):
    """Runs all tasks of a command at once, one of them twice; each takes its part from the variable."""
    running = [library.start(command, **{variable: str(task)}) for task in [*range(PARTS), 0]]
    for process in running:
        printed, _ = process.communicate(timeout=SECONDS)
        expect(process.returncode == 0, f"exit {process.returncode}: {printed.decode(errors='replace')[-300:]}")
    hidden = library.compare(made)
    expect(not hidden, f"{hidden} hidden files are left")
    beyond = library.start(command, **{variable: str(PARTS)})
    printed, _ = beyond.communicate(timeout=SECONDS)
    expect(beyond.returncode == 64, f"task {PARTS} of {PARTS} ended with {beyond.returncode}: {printed.decode()[-300:]}")
    return f"{library.count} files by {PARTS} tasks, one of them twice"


def slurm(library):
    """slurm.sh, as Slurm starts it."""
    def command(made):
        return [SCRIPTS / "slurm.sh", library.list, made, PARTS, *library.options]
    made, later = library.work / "slurm", library.work / "later"
    detail = each_task(library, made, command(made), "SLURM_ARRAY_TASK_ID")
    # Where arrays may not be as long as N: task 0 of a later array is part 2.
    library.command([*command(later), "--shard-base=-2"], SLURM_ARRAY_TASK_ID="0")
    expect(set(contents(later)) == set(map(str, library.parts.get(2, []))), "--shard-base=-2 makes another part")
    return detail


def kubernetes(library):
    """The command of kubernetes.yaml, with the paths of its volumes changed to these."""
    loads = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))"
    documents = json.loads(run(["/usr/bin/python3", "-c", loads], input=(SCRIPTS / "kubernetes.yaml").read_bytes()))
    expect(len(documents) == 1 and documents[0]["kind"] == "Job", "it is not one Job")
    job = documents[0]["spec"]
    pod = job["template"]["spec"]
    container = pod["containers"][0]
    command = container["command"] + container["args"]
    expect(f"--shard=auto/{job['completions']}" in command and job["completionMode"] == "Indexed", "N is not the same in both places")
    expect(job["backoffLimitPerIndex"] > 0 and pod["restartPolicy"] == "Never", "parts have no attempts of their own")
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    expect(mounts["/media"].get("readOnly"), "the media can be written")
    expect({mount["name"] for mount in mounts.values()} == {volume["name"] for volume in pod["volumes"]}, "volumes are not those mounted")
    made = library.work / "kubernetes"
    made.mkdir()
    shutil.copy(library.list, made / "files.txt")
    command += ["--recipe", "recipe.yml"]
    command = [word.replace("/library", str(made)).replace("=/media", f"={library.media}")
               .replace(f"auto/{job['completions']}", f"auto/{PARTS}") for word in command]
    return each_task(library, made, command, "JOB_COMPLETION_INDEX")


def batch(library):
    """aws-batch.sh with an `aws` that notes what it is asked; the command of the job it defines is run."""
    made, asked = library.work / "aws", library.work / "asked"
    asked.mkdir()
    (library.programs / "aws").write_text(f'#!/bin/sh\njq -cn \'$ARGS.positional\' --args -- "$@" >{asked}/"$2"\n')
    (library.programs / "aws").chmod(0o755)
    library.command([SCRIPTS / "aws-batch.sh", "image:1", "queue", "fs-1", library.list, made, PARTS, *library.options])

    def options(name):
        words = json.loads((asked / name).read_text())
        expect(words[0] == "batch", f"aws {words[0]}")
        return dict(zip(words[2::2], words[3::2]))
    definition, job = options("register-job-definition"), options("submit-job")
    expect(job["--job-definition"] == definition["--job-definition-name"], "the job has another definition")
    expect(job["--array-properties"] == f"size={PARTS}", f"the array has {job['--array-properties']}")
    expect(len(json.loads(definition["--retry-strategy"])["evaluateOnExit"]) <= 5, "AWS allows five conditions")
    properties = json.loads(definition["--container-properties"])
    expect({mount["sourceVolume"] for mount in properties["mountPoints"]} == {volume["name"] for volume in properties["volumes"]},
           "volumes are not those mounted")
    return each_task(library, made, properties["command"], "AWS_BATCH_JOB_ARRAY_INDEX")


def parallel(library):
    """parallel.sh as it stands."""
    made = library.work / "parallel"
    library.command([SCRIPTS / "parallel.sh", library.list, made, PARTS, *library.options], JOBS="2")
    hidden = library.compare(made)
    expect(not hidden, f"{hidden} hidden files are left")
    return f"{library.count} files in {PARTS} parts"


def shells():
    """shellcheck has nothing to say about the scripts."""
    scripts = sorted(SCRIPTS.glob("*.sh"))
    printed = run(["shellcheck", *map(str, scripts)], check=False)
    expect(printed.returncode == 0, printed.stdout.decode()[:300])
    return f"{len(scripts)} scripts"
