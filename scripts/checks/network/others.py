"""The faulty server, the HTTP proxy and hadro, started and ended; S3's signatures."""

import hashlib
import hmac
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import quote

from .distance import SCRIPTS
from .process import Log, free_ports, listens, running

REGION = "eu-west-1"
KEY_ID, KEY = "AKIDEXAMPLEREADER", "wJalrXUtnFEMI+K7MDENG/bPxRfiCYreader"


@dataclass
class Faulty:
    """A running faulty server."""

    port: int
    scheme: str
    log: Log
    host: str

    def at(self, test):
        """Where a test of that name finds /FAULT/NAME."""
        return f"{self.scheme}://{self.host}:{self.port}/{test}"


@contextmanager
def faulty(folder, media, certificate=None, host="127.0.0.1", address="127.0.0.1"):
    """The server of faulty.py over a folder of media; with a certificate (a path without its ending) by TLS."""
    os.makedirs(folder)
    port, = free_ports(1)
    log = Log(Path(folder, "requests.log"))
    command = [sys.executable, "-B", "-m", "checks.network.faulty", str(media), "--address", address, "--port", str(port),
               "--log", str(log.path)]
    if certificate:
        command += ["--certificate", f"{certificate}.pem", "--key", f"{certificate}.key"]
    with running(command, Path(folder, "out"), lambda: listens(port, address), cwd=SCRIPTS):
        yield Faulty(port, "https" if certificate else "http", log, host)


@contextmanager
def proxy(folder, names, user=None):
    """An HTTP proxy that knows the names, {"media.test:443": "127.0.0.1:4433"}; gives its port and its log."""
    os.makedirs(folder)
    port, = free_ports(1)
    log = Log(Path(folder, "requests.log"))
    command = [sys.executable, "-B", "-m", "checks.network.relay", "--proxy", "--port", str(port), "--log", str(log.path)]
    command += [word for name, there in names.items() for word in ("--name", f"{name}={there}")]
    command += ["--user", user] if user else []
    with running(command, Path(folder, "out"), lambda: listens(port), cwd=SCRIPTS):
        yield port, log


@contextmanager
def hadro(folder, buckets):
    """hadro over a folder of buckets, which wants signed requests; gives its port, or None where it is not installed."""
    program = os.environ.get("HADRO")
    if not program:
        yield None
        return
    os.makedirs(folder)
    port, = free_ports(1)
    command = [program, str(buckets), "--port", str(port), "--region", REGION, "--access-key", KEY_ID, "--secret-key", KEY,
               "--log-level", "warning"]
    with running(command, Path(folder, "out"), lambda: listens(port)):
        yield port


def presigned(endpoint, bucket, name, seconds=600, key_id=KEY_ID, key=KEY, now=None):
    """An address that S3 answers without a header: the signature of GET is in its query."""
    now = now or datetime.now(timezone.utc)
    day, moment = now.strftime("%Y%m%d"), now.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{day}/{REGION}/s3/aws4_request"
    path = f"/{bucket}/{quote(name)}"
    query = "&".join(f"{part}={quote(value, safe='')}" for part, value in sorted({
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": f"{key_id}/{scope}", "X-Amz-Date": moment,
        "X-Amz-Expires": str(seconds), "X-Amz-SignedHeaders": "host"}.items()))
    asked = f"GET\n{path}\n{query}\nhost:{endpoint.split('//')[1]}\n\nhost\nUNSIGNED-PAYLOAD"
    to_sign = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(asked.encode()).hexdigest()}"
    secret = ("AWS4" + key).encode()
    for part in (day, REGION, "s3", "aws4_request", to_sign):
        secret = hmac.new(secret, part.encode(), hashlib.sha256).digest()
    return f"{endpoint}{path}?{query}&X-Amz-Signature={secret.hex()}"


def environment(endpoint=None, key_id=KEY_ID, key=KEY):
    """The variables that a client of S3 has."""
    variables = {"AWS_ACCESS_KEY_ID": key_id, "AWS_SECRET_ACCESS_KEY": key, "AWS_REGION": REGION}
    return variables | ({"AWS_ENDPOINT_URL": endpoint} if endpoint else {})
