"""A Slurm cluster of two nodes on this machine: a controller, two node daemons and a munged, all in one folder."""

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from ..tools import Failure, run

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "sinfo")
PATH = os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"
NODES = ("n1", "n2")
# States of tasks that will not change any more.
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"}


def missing():
    """What is missing for a cluster; empty where nothing is."""
    absent = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if absent:
        return f"{', '.join(absent)} is not installed (slurmctld, slurmd, slurm-client, munge)"
    return "" if os.geteuid() == 0 else "node daemons need root"


def free_ports(count):
    """Ports that nobody listens at."""
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


def wait(what, test, seconds=60, pause=0.2):
    """Waits until a test gives something true, and gives that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := test():
            return found
        time.sleep(pause)
    raise Failure(f"{what}: not within {seconds} s")


def processes():
    """All processes: parent by number."""
    found = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                found[int(place.name)] = int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                pass
    return found


def reads(number, name):
    """The words of a file in /proc about a process; none if it has ended."""
    try:
        return Path("/proc", str(number), name).read_bytes().split(b"\0")
    except OSError:
        return []


def opened(number):
    """The files that a process has open."""
    try:
        return {os.readlink(path).removesuffix(" (deleted)") for path in Path("/proc", str(number), "fd").iterdir()}
    except OSError:
        return set()


class Cluster:
    """The daemons, and commands about them."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.configuration = self.folder / "slurm.conf"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_"))}
        self.environment |= {"SLURM_CONF": str(self.configuration), "PATH": PATH}
        self.daemons = {}

    def start(self):
        """Starts everything, and waits until both nodes can take tasks."""
        for name in ("munge", "state", *(f"spool-{node}" for node in NODES)):
            self.folder.joinpath(name).mkdir(mode=0o755)
        # munged refuses folders that others can write to, and clients must reach its socket.
        self.folder.chmod(0o755)
        text = Path(__file__).with_name("slurm.conf").read_text()
        text = text.replace("@FOLDER@", str(self.folder)).replace("@USER@", getpass.getuser())
        for place, port in enumerate(free_ports(3)):
            text = text.replace(f"@PORT{place}@", str(port))
        self.configuration.write_text(text)
        key = self.folder / "munge/key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        munge = {name: f"--{name}={self.folder}/munge/{name.replace('-file', '')}" for name in
                 ("socket", "key-file", "pid-file", "log-file", "seed-file")}
        self.daemon("munged", ["munged", "--foreground", "--force", *munge.values()])
        wait("munged", self.folder.joinpath("munge/socket").exists)
        self.daemon("slurmctld", ["slurmctld", "-D", "-f", self.configuration])
        for node in NODES:
            self.start_node(node)
        wait("both nodes", lambda: self.ask("sinfo", "-h", "-N", "-o", "%T").split() == ["idle", "idle"])

    def daemon(self, name, command):
        with open(self.folder / f"{name}.out", "ab") as out:
            self.daemons[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.environment, start_new_session=True)

    def start_node(self, node):
        self.daemon(node, ["slurmd", "-D", "-N", node, "-f", self.configuration])

    def ask(self, *command):
        """What a command of Slurm prints; nothing if the controller does not answer yet."""
        result = run(list(map(str, command)), check=False, env=self.environment, cwd=self.folder, timeout=60)
        return result.stdout.decode() if result.returncode == 0 else ""

    def submit(self, array, place, script, *arguments):
        """Submits a script as an array that works in a folder; gives the job's number."""
        printed = run(["sbatch", "--parsable", f"--array={array}", f"--chdir={place}", str(script), *map(str, arguments)],
                      env=self.environment, cwd=place, timeout=60).decode()
        return printed.strip()

    def tasks(self, job):
        """The tasks of an array: number, state, node and how often it was begun again, as scontrol tells."""
        found = {}
        for line in self.ask("scontrol", "-o", "show", "job", job).splitlines():
            fields = dict(re.findall(r"(\w+)=(\S*)", line))
            if fields.get("ArrayTaskId", "").isdigit():
                found[int(fields["ArrayTaskId"])] = (fields["JobState"], fields.get("NodeList", ""), int(fields["Restarts"]))
        return found

    def finish(self, job, count, seconds):
        """Waits until all tasks of an array have ended; gives them."""
        def ended():
            tasks = self.tasks(job)
            return len(tasks) == count and all(state in ENDED for state, _, _ in tasks.values()) and tasks
        try:
            return wait(f"job {job}", ended, seconds)
        except Failure as failure:
            raise Failure(f"{failure}: {self.tasks(job)}") from None

    def of_node(self, node):
        """The processes of a node: its daemon, the daemons of steps, and what these have started."""
        wanted, tree = f"SLURMD_NODENAME={node}".encode(), processes()
        children = {}
        for number, parent in tree.items():
            children.setdefault(parent, set()).add(number)
        ours = f"SLURM_CONF={self.configuration}".encode()
        found = {self.daemons[node].pid} if node in self.daemons else set()
        log = f"{self.folder}/slurmd-{node}.log"
        for number in tree:
            words = reads(number, "environ")
            # The daemon of a step hides its environment, and has the log of the node open.
            is_step = b"slurmstepd" in b"".join(reads(number, "cmdline")[:1]) and log in opened(number)
            if wanted in words and ours in words or is_step:
                found.add(number)
        waiting = list(found)
        while waiting:
            for child in children.get(waiting.pop(), ()):
                if child not in found:
                    found.add(child)
                    waiting.append(child)
        return found - {0, 1, os.getpid()}

    def stall(self, node):
        """Stops what runs on a node, and gives the numbers of its processes."""
        numbers = self.of_node(node)
        for number in numbers:
            kill(number, signal.SIGSTOP)
        return numbers

    def kill_node(self, node):
        """Ends a node as if its power failed; gives the names of the processes that were ended."""
        ended = []
        # What starts meanwhile is seen the next time.
        while numbers := self.of_node(node):
            named = {number: b"".join(reads(number, "cmdline")[:1]) for number in numbers}
            if not any(named.values()):
                break
            for number, name in named.items():
                # What has ended has no name.
                if name:
                    ended.append(os.path.basename(name.split(b":")[0].decode()))
                    kill(number)
            self.reap()
            time.sleep(0.05)
        return ended

    def kill_daemon(self, node):
        """Ends the daemon of a node alone; its tasks go on."""
        kill(self.daemons[node].pid)
        self.daemons.pop(node).wait()

    def reap(self):
        for name, process in list(self.daemons.items()):
            if process.poll() is not None:
                self.daemons.pop(name)

    def running(self, words):
        """The numbers of the processes of this cluster whose command has all of the words."""
        ours = f"SLURM_CONF={self.configuration}".encode()
        return [number for number in processes() if ours in reads(number, "environ")
                and all(word in b" ".join(reads(number, "cmdline")) for word in words)]

    def stop(self):
        """Ends everything that belongs to the cluster."""
        for node in NODES:
            self.kill_node(node)
        for process in self.daemons.values():
            process.terminate()
        for process in self.daemons.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def log(self, name, lines=5):
        path = self.folder / name
        return " / ".join(path.read_text(errors="replace").splitlines()[-lines:]) if path.exists() else ""


def kill(number, which=signal.SIGKILL):
    """Sends a signal to a process, which may have ended."""
    try:
        os.kill(number, which)
    except ProcessLookupError:
        pass


@contextmanager
def cluster(folder):
    """A cluster in a folder, ended when the block ends, however that happens."""
    made = Cluster(folder)
    try:
        try:
            made.start()
        except Failure as failure:
            raise Failure(f"{failure}; {made.log('slurmctld.log')} {made.log('slurmd-n1.log')}") from None
        yield made
    finally:
        made.stop()
