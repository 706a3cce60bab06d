"""slurm.sh as an array of a Slurm with two nodes: one node dies, one daemon dies alone, single tasks are submitted again."""

import shutil
import signal
import time
from pathlib import Path

from ..programs import MEDIATOOL
from ..tools import expect, run
from .slurm import NODES, cluster, kill, wait
from .tasks import SCRIPTS, write_recipe

# A node that died is there again after so many seconds.
AWAY = 18
# The seconds of work of the task that two nodes do.
LASTS = 20
SECONDS = 900


def prepare(made, library):
    made.environment["PATH"] = f"{library.programs}:{made.environment['PATH']}"


def submit(made, library, folder, parts, array):
    return made.submit(array, library.work, SCRIPTS / "slurm.sh", library.list, folder, parts, *library.options)


def stand(library, folder, task):
    """How many files of a part are complete, and how many there are."""
    paths = library.parts.get(task, [])
    return sum((folder / path / "manifest.json").exists() for path in paths), len(paths)


def on_node(made, job, node):
    return [task for task, (state, where, _) in made.tasks(job).items() if state == "RUNNING" and where == node]


def node_dies(work, library, parts, again):
    """A node is killed in the middle of a task, which another node begins again; then single tasks are submitted once more."""
    with cluster(work) as made:
        prepare(made, library)
        folder = Path(work, "library")
        job = submit(made, library, folder, parts, f"0-{parts - 1}")

        def in_the_middle():
            for node in NODES:
                for task in on_node(made, job, node):
                    if is_in_the_middle(task):
                        # A loaded machine may have gone on meanwhile.
                        stalled = made.stall(node)
                        if is_in_the_middle(task) and set(made.running([b"--shard", str(folder).encode()])) & stalled:
                            return node, task
                        for number in stalled:
                            kill(number, signal.SIGCONT)
            return None

        def is_in_the_middle(task):
            done, all_of_it = stand(library, folder, task)
            return 0 < done < all_of_it - 1

        node, task = wait("a task in the middle", in_the_middle, SECONDS, 0.02)
        ended, begun = made.kill_node(node), time.monotonic()
        done, all_of_it = stand(library, folder, task)
        expect({"slurmd", "slurmstepd", "mediatool"} <= set(ended), f"ended were {ended}")
        expect(done < all_of_it, f"task {task} was done when its node ended")
        while time.monotonic() < begun + AWAY:
            library.whole(folder)
            time.sleep(0.5)
        made.start_node(node)
        tasks = made.finish(job, parts, SECONDS)
        check_states(library, tasks)
        expect(tasks[task][2] >= 1, f"task {task} was not requeued: {tasks[task]}")
        others = [number for number, (_, _, restarts) in tasks.items() if restarts and number != task]
        expect(len(others) <= 1, f"tasks {others} began again too")
        hidden = library.compare(folder)
        detail = (f"{library.count} files, {parts} tasks; {node} ended with {len(ended)} processes at {done} of {all_of_it} files of task "
                  f"{task}, which began again on {tasks[task][1]}; {hidden} hidden files are left of it")
        return f"{detail}; {resubmit(made, library, folder, parts, again)}"


def check_states(library, tasks):
    good = {"COMPLETED"} if library.codes == (0,) else {"COMPLETED", "FAILED"}
    expect({state for state, _, _ in tasks.values()} <= good, f"tasks ended as {tasks}")


def resubmit(made, library, folder, parts, again):
    """Folders of some tasks are removed; these tasks alone, submitted again, make them as they were, and touch nothing else."""
    lost = [folder / path for task in again for path in library.parts.get(task, [])]
    expect(lost, f"tasks {again} have no files")
    for place in lost:
        shutil.rmtree(place)
    def stamps():
        return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    before = stamps()
    job = submit(made, library, folder, parts, ",".join(map(str, again)))
    check_states(library, made.finish(job, len(again), SECONDS))
    library.compare(folder)
    after = stamps()
    expect(all(after[path] == before[path] for path in before), "other tasks' files were touched")
    return f"--array={','.join(map(str, again))} made {len(lost)} folders again"


def daemon_dies(work, library, comes_back):
    """The daemon of a node dies, and its task goes on while another node works at the same file."""
    with cluster(work) as made:
        prepare(made, library)
        folder = Path(work, "library")
        job = submit(made, library, folder, 1, "0")
        words = [b"--shard auto/1", str(folder).encode()]
        node = wait("the task", lambda: next((node for node in NODES if on_node(made, job, node)), None), SECONDS)
        wait("the program", lambda: made.running(words))
        made.kill_daemon(node)
        other = NODES[1 - NODES.index(node)]
        # The node stalls until the other has begun, however fast this machine is.
        first = made.running(words)
        for number in first:
            kill(number, signal.SIGSTOP)
        wait("the other node's start", lambda: on_node(made, job, other), 120, 0.1)
        wait("the program of the other node", lambda: set(made.running(words)) - set(first), 30, 0.05)
        for number in first:
            kill(number, signal.SIGCONT)
        first = set(first)
        expect(first & set(made.running(words)), "the first task is not at work any more")
        together = time.monotonic()
        seen, last = 0, together
        if comes_back:
            # Both are at work for a while; then Slurm ends the task that has begun elsewhere.
            time.sleep(2)
            last = time.monotonic()
            made.start_node(node)
        while made.running(words):
            seen = library.whole(folder)
            if first & set(made.running(words)):
                last = time.monotonic()
            time.sleep(0.1)
        expect(comes_back or last - together > 1, f"two tasks were at work for {last - together:.1f} s only")
        tasks = made.finish(job, 1, SECONDS)
        check_states(library, tasks)
        expect(tasks[0][2] == 1, f"the task ended as {tasks[0]}")
        hidden = library.compare(folder)
        # The first task of a node that came back is ended by SIGKILL, since it has begun elsewhere.
        expect(comes_back or not hidden, f"{hidden} hidden files are left")
        how = f", until {node} came back; {hidden} hidden files are left" if comes_back else ""
        return f"two tasks at the same files for {last - together:.1f} s{how}; {library.count} folders, {seen} files, all whole"


def film(path, seconds):
    run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=960x540:r=25,noise=alls=20:allf=t", "-f", "lavfi", "-i", "anoisesrc=a=0.1:r=48000",
         "-t", str(seconds), "-c:v", "libx264", "-preset", "ultrafast", "-g", "50", "-c:a", "aac", path])
    return path


def films(folder):
    """Two films that take some twenty seconds together, on whatever machine this is."""
    short = film(Path(folder, "short.mp4"), 4)
    begun = time.monotonic()
    run([MEDIATOOL, "ingest", short, "-o", Path(folder, "short"), "--recipe", write_recipe(folder), "--quiet"])
    length = 4 * LASTS / 2 / (time.monotonic() - begun)
    return [film(Path(folder, f"film{number}.mp4"), round(length)) for number in range(2)]
