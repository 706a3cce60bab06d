"""Groups `secrets` and `loaded`: no message, no output and no JSON has a password, key or signature in it; and libcurl is loaded
by addresses alone.
"""

import base64
import os
from urllib.parse import quote, unquote

from ..tools import expect
from .nginx import HEADER, PASSWORD, TOKEN, TOKEN_IN_QUERY, USER
from .others import KEY, KEY_ID, presigned
from .same import COMMANDS

SESSION = "FwoGZXIvYXdzEBYaD/session+token=="
PORTER = "let-me-through"
AWS = "AWS_ACCESS_KEY_ID=$KEY_ID AWS_SECRET_ACCESS_KEY=$KEY AWS_SESSION_TOKEN=$SESSION AWS_REGION=$REGION AWS_ENDPOINT_URL=$ENDPOINT"
NETRC = f"printf 'machine localhost login {USER} password \"{PASSWORD}\"\\n' > ~/.netrc; chmod 600 ~/.netrc; "
# Kinds of secrets: what stands before the command, its options, its address.
KINDS = {
    "a password in the address": ("", "", "https://$USERINFO@$WEBHOST/basic/NAME"),
    "a signature in the query": ("", "", "$WEB/query/NAME?signature=$TOKEN"),
    "a header": ("", '--header "$LETTER"', "$WEB/header/NAME"),
    "netrc": (NETRC, "--netrc", "$WEB/basic/NAME"),
    "a redirect to a signature": ("", "", "$WEB/to-query/NAME"),
    "a proxy's password": ("export https_proxy=http://porter:$PORTER@$LOCKED; ", "", "https://media.test/query/NAME?signature=$TOKEN"),
}
S3_KINDS = {
    "S3": (f"export {AWS}; ", "", "s3://media/NAME"),
    "a presigned address": ("", "", "\"$SIGNED\""),
}
# What goes wrong, after the user's secrets were sent: the address, options.
FAILING = {
    "401": ("https://$USERINFO@$WEBHOST/status/401/a.mp4?signature=$TOKEN", ""),
    "403": ("https://$USERINFO@$WEBHOST/status/403/a.mp4?signature=$TOKEN", ""),
    "404": ("https://$USERINFO@$WEBHOST/media/none.mp4?signature=$TOKEN", ""),
    "503": ("https://$USERINFO@$WEBHOST/status/503/a.mp4?signature=$TOKEN", "--network-retries 1"),
    "no media": ("https://$USERINFO@$WEBHOST/media/text.mp4?signature=$TOKEN", ""),
    "empty": ("https://$USERINFO@$WEBHOST/media/empty.mp4?signature=$TOKEN", ""),
    "nobody listens": ("http://$USERINFO@127.0.0.1:1/a.mp4?signature=$TOKEN", "--network-retries 0"),
    "no such name": ("http://$USERINFO@nosuch.invalid/a.mp4?signature=$TOKEN", "--network-retries 0"),
    "no certificate": ("https://$USERINFO@${EXPIRED#*//}/media/av.mp4?signature=$TOKEN", ""),
    "an address that is none": ("https://$USERINFO@localhost:99999/media/av.mp4?signature=$TOKEN", ""),
    "another one": ("https://$USERINFO@[::1/av.mp4?signature=$TOKEN", ""),
    "to http": ("https://$USERINFO@$WEBHOST/to-http/query/av.mp4?signature=$TOKEN", ""),
    "in a circle": ("https://$USERINFO@$WEBHOST/loop/a.mp4?signature=$TOKEN", ""),
    "a redirect to nothing": ("https://$USERINFO@$WEBHOST/to-query/none.mp4?signature=$TOKEN", ""),
    "a reset": ("http://$USERINFO@${BAD#*//}/reset:always/noise.wav?signature=$TOKEN", "--network-retries 1"),
    "changed": ("http://$USERINFO@${BAD#*//}/changes:1/noise.wav?signature=$TOKEN", ""),
    "a bad range": ("http://$USERINFO@${BAD#*//}/badrange:text/noise.wav?signature=$TOKEN", "--network-retries 0"),
    "too slow": ("http://$USERINFO@${BAD#*//}/stall/noise.wav?signature=$TOKEN", "--timeout 0.5"),
    "no ranges": ("http://$USERINFO@${BAD#*//}/noranges/noise.wav?signature=$TOKEN", ""),
}
FAILING_S3 = {
    "S3, no such file": ("s3://media/none.mp4", ""),
    "S3, no such bucket": ("s3://nosuch/none.mp4", ""),
    "S3, no media": ("s3://media/text.mp4", ""),
    "a presigned address that is over": ("\"$OVER\"", ""),
}


def forbidden(*more):
    """Every form in which a secret could be shown."""
    plain = [PASSWORD, TOKEN, HEADER, KEY, SESSION, PORTER, USER, KEY_ID, *more]
    whole = [f"{USER}:{PASSWORD}", f"porter:{PORTER}"]
    forms = {TOKEN_IN_QUERY, "open%20sesame%2B1"}
    for text in plain + whole:
        forms |= {text, quote(text, safe=""), quote(text), unquote(text), text.replace("/", "\\/")}
        if text in whole:
            # A part of it will do: base64 of the same bytes in another place looks different.
            forms.add(base64.b64encode(text.encode()).decode().rstrip("=")[:-1])
    return {form.encode() for form in forms}


def secrets(report, world, full=False):
    """Every command with every kind of secret, and with everything that goes wrong."""
    signed = world.endpoint and presigned(world.endpoint, "media", "av.mp4")
    over = world.endpoint and presigned(world.endpoint, "media", "av.mp4", seconds=-10)
    variables = {"SIGNED": signed or "", "OVER": over or "", "SESSION": SESSION, "PORTER": PORTER}
    words = forbidden(*(one.split("Signature=")[1] for one in (signed, over) if one))
    report.each("secrets", [("the search finds them", lambda: control(world, words))])
    kinds = KINDS | (S3_KINDS if world.endpoint else {})
    names = COMMANDS if full else ("probe", "text", "waveform", "copy", "qc")
    jobs = [(f"{kind}: {name}", before, COMMANDS[name], options, address.replace("NAME", "av.mp4"), 0)
            for kind, (before, options, address) in kinds.items() for name in names]
    failing = FAILING | (FAILING_S3 if world.endpoint else {})
    jobs += [(f"{kind}: {name}", f"export {AWS}; ", COMMANDS[name], f'--header "$LETTER" {options}', address, None)
             for kind, (address, options) in failing.items() for name in (names if full else ("probe", "waveform"))]
    report.threads = os.cpu_count()
    report.each("secrets", [(name, lambda job=job, number=number: kept(world, variables, words, number, *job))
                            for number, (name, *job) in enumerate(jobs)])
    report.threads = 1
    loaded(report, world)


def found(end, words):
    """Which secrets a run shows, and where."""
    places = {"standard output": end.output.encode(), "standard error": end.errors.encode()}
    places |= {f"the file {name}": data for name, data in end.files.items() if name != ".netrc"}
    places |= {f"the name of {name}": name.encode() for name in end.files}
    return [f"{place}: {word.decode()}" for place, data in places.items() for word in words if word in data]


def kept(world, variables, words, number, before, line, options, address, code):
    line = line.replace("FILE", f"{options} --progress always {address}")
    end = world.shell(before + line, test=f"secret-{number}", **variables)
    expect("Unknown option" not in end.errors, end.errors[-200:])
    shown = found(end, words)
    expect(not shown, "; ".join(shown))
    # A command that does not come to its end shows less.
    expect(code in (None, end.code), f"exit {end.code}: {end.errors[-200:]}")
    return f"exit {end.code}, {len(end.files)} files"


def control(world, words):
    """The servers' logs have what nobody else may have."""
    world.mark()
    world.shell('curl -s "https://$USERINFO@$WEBHOST/media/text.mp4?signature=$TOKEN"')
    entries = world.requests()
    text = str(entries).encode()
    expect(len([word for word in words if word in text]) >= 2, f"{entries}")
    return "in a server's log"


def loaded(report, world):
    """Which libraries the dynamic linker loads."""
    def libraries(command):
        end = world.shell(f"LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/linker {command}")
        text = b"".join(data for name, data in end.files.items() if name.startswith("linker"))
        return {line.split(b"file=")[1].split()[0].decode() for line in text.splitlines() if b"file=" in line}

    def local():
        names = libraries("mediatool probe $MEDIA/av.mp4")
        expect(any("libc.so" in name for name in names), "the linker said nothing")
        expect(not any("libcurl" in name for name in names), f"{sorted(names)}")
        return f"{len(names)} libraries"

    def address():
        # The process with the network has closed the linker's file; without a sandbox there is none.
        names = libraries("mediatool probe --no-sandbox $WEB/media/av.mp4")
        expect(any("libcurl" in name for name in names), "no libcurl for an address: the check shows nothing")
        return f"{len(names)} libraries"

    report.each("loaded", [("a file on disk loads no libcurl", local), ("an address does", address)])
