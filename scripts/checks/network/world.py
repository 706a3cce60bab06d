"""All servers of a test over one folder of media, and programs that are run beside them."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..programs import MEDIATOOL
from ..tools import ROOT, Failure, run
from . import others
from .certificates import certificates
from .nginx import HEADER, PASSWORD, TOKEN_IN_QUERY, USER, Web, web
from .process import QUIET

SECONDS = 60
FIXTURES = ("av.mp4", "h264-aac.mkv", "flac-s16-stereo.flac", "pcm-s16-stereo.wav", "mpegts-10s.ts", "prores.mov", "mp3-vbr-stereo.mp3")
ODD = "Größe 1+2 #50%.wav"
ODD_IN_ADDRESS = "Gr%C3%B6%C3%9Fe%201%2B2%20%2350%25.wav"


@dataclass
class End:
    """How a program ended, and what it left in its folder."""

    code: int
    output: str
    errors: str
    seconds: float
    files: dict = field(default_factory=dict)

    @property
    def lines(self):
        """What standard error says, without warnings."""
        return [line for line in self.errors.splitlines() if "warning:" not in line]


class World:
    """The servers, and where programs find them."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.media = self.folder / "buckets" / "media"
        self.media.mkdir(parents=True)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        os.symlink(os.path.abspath(MEDIATOOL), self.bin / "mediatool")
        self.web: Web
        self.faulty: others.Faulty
        self.secure: others.Faulty
        self.proxy = None
        self.endpoint = None
        self.is_settled = False
        # Names of media that the caller gave.
        self.others = []

    @property
    def logs(self):
        return [self.web.log, self.faulty.log, self.secure.log, self.proxy[1], self.locked_proxy[1]]

    def environment(self, test="test"):
        """What a command of a test has: nothing of the caller's proxies and keys, and the addresses of all servers."""
        kept = {name: value for name, value in os.environ.items()
                if not name.lower().endswith("_proxy") and not name.startswith(("AWS_", "SSL_CERT", "CURL_CA"))}
        ports = self.web.ports
        there = {"WEB": "https", "HTTP": "http", "HTTPS1": "https1", "EXPIRED": "expired", "OTHER": "other", "FOREIGN": "foreign"}
        known = {name: f"{'http' if name == 'HTTP' else 'https'}://localhost:{ports[port]}" for name, port in there.items()}
        host = f"localhost:{ports['https']}"
        return kept | known | {
            "WEBHOST": host, "HTTPHOST": f"localhost:{ports['http']}", "BAD": self.faulty.at(test), "BADTLS": self.secure.at(test),
            "USERINFO": f"{USER}:open%20sesame%2B1", "USER_PASSWORD": f"{USER}:{PASSWORD}", "TOKEN": TOKEN_IN_QUERY,
            "LETTER": f"X-Letter: {HEADER}", "CA": self.web.authority, "SSL_CERT_FILE": self.web.authority,
            "MEDIA": str(self.media), "ODD": ODD_IN_ADDRESS, "ODD_KEY": ODD, "PROXY": f"http://127.0.0.1:{self.proxy[0]}",
            "LOCKED": f"127.0.0.1:{self.locked_proxy[0]}",
            "ENDPOINT": self.endpoint or "", "KEY_ID": others.KEY_ID, "KEY": others.KEY, "REGION": others.REGION,
            "PATH": f"{self.bin}:{os.environ['PATH']}"}

    def settle(self):
        """Waits until the servers have written down what they were asked."""
        sizes, since = None, time.monotonic()
        while not self.is_settled and time.monotonic() < since + QUIET:
            now = [log.path.stat().st_size for log in self.logs]
            if now != sizes:
                sizes, since = now, time.monotonic()
            time.sleep(0.02)
        self.is_settled = True

    def mark(self):
        """Requests are counted from now on."""
        self.settle()
        for log in self.logs:
            log.start = log.path.stat().st_size

    def requests(self):
        """All that was asked of all servers since the mark."""
        self.settle()
        return [request for log in self.logs for request in log.requests(quiet=0)]

    def shell(self, command, test="test", seconds=SECONDS, **environment):
        """Runs a line of bash in an empty folder."""
        return self.run(["bash", "-c", command], test, seconds, **environment)

    def run(self, command, test="test", seconds=SECONDS, keep=True, **environment):
        """Runs a program in an empty folder, and keeps what it left there."""
        self.is_settled = False
        with tempfile.TemporaryDirectory(prefix="network-", dir=self.folder) as folder:
            begun = time.monotonic()
            with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=self.environment(test) | {"HOME": folder} | environment, start_new_session=True) as process:
                try:
                    output, errors = process.communicate(timeout=seconds)
                except subprocess.TimeoutExpired:
                    # What the shell has started, too.
                    os.killpg(process.pid, signal.SIGKILL)
                    raise Failure(f"no end within {seconds} s") from None
            taken = time.monotonic() - begun
            files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob("*"))
                     if keep and path.is_file()}
        return End(process.returncode, output.decode(errors="replace"), errors.decode(errors="replace"), taken, files)


def fill(folder, files=()):
    """The media that all tests know: fixtures, a longer film and longer sound, what is empty, what is none, a playlist."""
    for path in [Path(ROOT, "fixtures", name) for name in FIXTURES] + [Path(path) for path in files]:
        if path.is_file() and not Path(folder, path.name).exists():
            shutil.copy(path, folder)
    shutil.copy(Path(ROOT, "fixtures", "pcm-s16-stereo.wav"), Path(folder, ODD))
    shutil.copy(Path(ROOT, "docs/Examples/sample.mov"), folder)
    run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "anoisesrc=duration=60:amplitude=0.3:seed=1", "-c:a", "pcm_s16le", "-ac", "2",
         str(Path(folder, "noise.wav"))])
    run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=40", "-f", "lavfi", "-i",
         "sine=duration=40", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-b:v", "1M", "-c:a", "aac",
         str(Path(folder, "film.mp4"))])
    Path(folder, "empty.mp4").touch()
    Path(folder, "text.mp4").write_text("This is no media.\n" * 50)


@contextmanager
def world(files=()):
    """All servers over the usual media and the given files."""
    with tempfile.TemporaryDirectory(prefix="network-") as folder, ExitStack() as stack:
        made = World(folder)
        fill(made.media, files)
        made.others = [Path(path).name for path in files]
        pairs = certificates(made.folder / "certificates")
        hadro = stack.enter_context(others.hadro(made.folder / "hadro", made.folder / "buckets"))
        made.web = stack.enter_context(web(str(made.folder / "web"), str(made.media), str(pairs), hadro=hadro or 9))
        made.faulty = stack.enter_context(others.faulty(made.folder / "faulty", made.media))
        made.secure = stack.enter_context(others.faulty(made.folder / "secure", made.media, certificate=str(pairs / "good")))
        names = {"media.test:80": f"127.0.0.1:{made.web.ports['http']}", "media.test:443": f"127.0.0.1:{made.web.ports['https']}",
                 f"media.s3.{others.REGION}.amazonaws.com:443": f"127.0.0.1:{made.web.ports['s3']}"}
        made.proxy = stack.enter_context(others.proxy(made.folder / "proxy", names))
        made.locked_proxy = stack.enter_context(others.proxy(made.folder / "locked", names, user="porter:let-me-through"))
        if hadro:
            made.endpoint = f"https://localhost:{made.web.ports['s3']}"
        for name in ("film.mp4", "noise.wav"):
            os.utime(made.media / name, (1700000000, 1700000000))
        yield made
