"""Certificates for test servers: an authority of the test's own, and what a client has to refuse."""

import os
from pathlib import Path

from ..tools import run

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
# Everything that a server of the test is called: on this machine, in its namespaces, and through the proxy.
NAMES = ["DNS:localhost", "DNS:media.test", "DNS:*.s3.eu-west-1.amazonaws.com", "IP:127.0.0.1", "IP:127.0.0.2", "IP:10.77.0.2"]

CONFIGURATION = """[ca]
default_ca = here
[here]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
x509_extensions = server
[any]
commonName = supplied
[server]
subjectAltName = {names}
"""


def certificates(folder):
    """Fills the folder: authority.pem, and pairs of .pem and .key called good, expired, other (another name) and foreign (not
    of the authority)."""
    folder = Path(folder)
    folder.mkdir()
    (folder / "index.txt").touch()
    (folder / "serial").write_text("01\n")
    authority(folder, "authority")
    authority(folder, "stranger")
    server(folder, "good", NAMES)
    server(folder, "expired", NAMES, dates=["-startdate", "20200101000000Z", "-enddate", "20210101000000Z"])
    server(folder, "other", ["DNS:elsewhere.test"])
    server(folder, "foreign", NAMES, by="stranger")
    return folder


def authority(folder, name):
    run(["openssl", "req", "-x509", *KEY, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}",
         "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"], cwd=folder)


def server(folder, name, names, by="authority", dates=("-days", "2")):
    Path(folder, "ca.cnf").write_text(CONFIGURATION.format(names=",".join(names)))
    run(["openssl", "req", "-new", *KEY, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}"], cwd=folder)
    run(["openssl", "ca", "-batch", "-notext", "-config", "ca.cnf", "-cert", f"{by}.pem", "-keyfile", f"{by}.key",
         "-in", f"{name}.csr", "-out", f"{name}.pem", *dates], cwd=folder)
    os.remove(Path(folder, f"{name}.csr"))
