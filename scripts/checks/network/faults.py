"""Group `faults`: what is wrong with a server or an address, and what the program says of it.

Each row is a line of bash, as in docs/faults.md, in an empty folder. `mediatool` is the program; the variables are those of
World.environment. A row with `same` has to make what the same line makes of the file on disk. A row of a reader that gives up
has one line on standard error that holds the words, and no output.
"""

import re
from dataclasses import dataclass
from functools import cache

from ..tools import expect
from .others import presigned

# Reading all of a file, and its header alone.
ALL = "mediatool waveform --quiet -o a.dat"
HEAD = "mediatool probe --json --quiet"
LOUD = "mediatool waveform -o a.dat"


@dataclass
class Row:
    """A fault, the line, its exit code (None: 2 or 64), words of what it says, and the most requests it may make."""

    name: str
    command: str
    code: int | None = 0
    words: str = ""
    most: int = 400
    least: int = 1
    # A field of the log, and what it is in every request that has it.
    asked: tuple = ()
    same: bool = False
    # Seconds within which it ends, where a limit of time is what is tried.
    within: float = 60
    # Takes long: with --full alone.
    is_long: bool = False


def refused(name, command, words, most=1):
    return Row(name, command, 2, words, most, least=min(1, most))


def whole(name, command, words="", most=400, asked=()):
    return Row(name, command, 0, words, most, same=True, asked=asked)


ANSWERS = [
    refused("401", f"{HEAD} $WEB/status/401/av.mp4", "401"),
    refused("403", f"{HEAD} $WEB/status/403/av.mp4", "403"),
    refused("404", f"{HEAD} $WEB/status/404/av.mp4", "404"),
    refused("404 of a real folder", f"{HEAD} $WEB/media/none.mp4", "404"),
    refused("410", f"{HEAD} $WEB/status/410/av.mp4", "410"),
    refused("418", f"{HEAD} $WEB/status/418/av.mp4", "418"),
    refused("429 for ever", f"{HEAD} --network-retries 1 $WEB/status/429/av.mp4", "429", most=2),
    refused("500 for ever", f"{HEAD} --network-retries 1 $WEB/status/500/av.mp4", "500", most=2),
    refused("503 for ever", f"{HEAD} --network-retries 2 $WEB/status/503/av.mp4", "503", most=3),
    refused("503 and no retries", f"{HEAD} --network-retries 0 $WEB/status/503/av.mp4", "503"),
    whole("429 with Retry-After, once", f"{ALL} $BAD/status:429:1:1/noise.wav"),
    whole("503, twice", f"{ALL} $BAD/status:503:2/noise.wav"),
    whole("500, four times", f"{HEAD} $BAD/status:500:4/av.mp4"),
    refused("500, three times, and two retries", f"{HEAD} --network-retries 2 $BAD/status:500:3/av.mp4", "500", most=3),
    refused("an empty file", f"{HEAD} $WEB/media/empty.mp4", "is empty", most=2),
    refused("a file that is no media", f"{HEAD} $WEB/media/text.mp4", "is not a media file", most=3),
    whole("HEAD is refused", f"{ALL} $BAD/getonly/noise.wav"),
    whole("HEAD is refused by nginx", f"{HEAD} $WEB/getonly/av.mp4"),
    whole("HTTP/2", f"{ALL} $WEB/media/noise.wav", asked=("protocol", "HTTP/2.0")),
    whole("HTTP/1.1", f"{ALL} $HTTPS1/media/noise.wav", asked=("protocol", "HTTP/1.1")),
    whole("HTTP without TLS", f"{ALL} $HTTP/media/noise.wav"),
    whole("no ETag", f"{ALL} $WEB/noetag/noise.wav"),
    whole("an address in capitals", f"{HEAD} HTTPS://LOCALHOST:${{WEBHOST#*:}}/media/av.mp4"),
    whole("compression on offer", f"{ALL} $WEB/gzip/noise.wav", asked=("accept_encoding", "(identity)?")),
]
BODIES = [
    whole("a reset in the first body", f"{ALL} $BAD/reset:1/noise.wav"),
    whole("a reset in each of three bodies", f"{ALL} $BAD/reset:3/noise.wav"),
    whole("a reset by TLS", f"{ALL} $BADTLS/reset:2/noise.wav"),
    refused("a reset in every body", f"{HEAD} --network-retries 1 $BAD/reset:always/text.mp4", "reset|connection|closed|short", most=6),
    whole("a short body", f"{ALL} $BAD/short:1/noise.wav"),
    whole("a short body by TLS", f"{ALL} $BADTLS/short:2/noise.wav"),
    whole("a short body of a film", f"{HEAD} $BAD/short:2/film.mp4"),
    whole("no answer, twice", f"{ALL} $BAD/silent:2/noise.wav"),
    whole("the server dies and comes back", f"{ALL} $BAD/dies:2:10/noise.wav"),
    whole("the server dies in the first body, and comes back", f"mediatool qc --json --quiet $BAD/dies:1:10/film.mp4"),
    Row("the server dies and stays away", f"{ALL} --network-retries 1 $BAD/dies:2:80/noise.wav; code=$?; sleep 8; exit $code", 2,
        "refused|connect|reset|closed|short", is_long=True),
    Row("a slow server", f"{ALL} --timeout 1 $WEB/slow/noise.wav", 2, "time limit", within=3),
    Row("a server that drips", f"{ALL} --timeout 1 $BAD/drip:1000/noise.wav", 2, "time limit", within=3),
    Row("a server that stalls", f"{ALL} --timeout 1 $BAD/stall/noise.wav", 2, "time limit", within=3),
    Row("a server that is deaf", f"{HEAD} --timeout 1 $BAD/deaf/av.mp4", 2, "time limit", within=3),
    Row("a time limit while waiting to try again", f"{HEAD} --timeout 1 $BAD/status:503:always:60/av.mp4", 2, "time limit|503", within=3),
    whole("no ranges", f"{LOUD} $BAD/noranges/noise.wav", "warning: .*range", most=2),
    whole("no ranges, by nginx", f"{LOUD} $WEB/noranges/noise.wav", "warning: .*range", most=2),
    whole("no ranges, and the index last", "mediatool thumbs --count 3 -o '{index}.png' $BAD/noranges/film.mp4", "warning: .*range",
          most=3),
    whole("chunks without a length", f"{LOUD} $BAD/chunked/noise.wav", "warning: .*range", most=2),
]
LIES = [
    refused("the file changes", f"{ALL} $BAD/changes:2/noise.wav", "changed", most=40),
    refused("the file changes, and the server knows no If-Range", f"{ALL} $BAD/changes:2:ignorant/noise.wav", "changed", most=40),
    refused("the file grows and has no ETag", f"{ALL} $BAD/grows:2/noise.wav", "changed", most=40),
    *[refused(f"a Content-Range that is {kind}", f"{HEAD} --network-retries 1 $BAD/badrange:{kind}/film.mp4", "range", most=4)
      for kind in ("text", "missing", "shifted", "small", "huge")],
    whole("a Content-Range without the size", f"{HEAD} $BAD/badrange:unknown/film.mp4", most=9),
    refused("another range than asked for", f"{HEAD} --network-retries 1 $BAD/otherrange/film.mp4", "range", most=4),
    refused("a range that is compressed", f"{HEAD} $BAD/zipped/film.mp4", "compress|encod|gzip", most=2),
    refused("heads of two megabytes", f"{HEAD} --network-retries 1 $BAD/headers:2000/av.mp4", "header", most=2),
    refused("heads without end", f"{HEAD} --timeout 20 --network-retries 1 $BAD/headers:always/av.mp4", "header", most=2),
    whole("heads of 50 kB", f"{HEAD} $BAD/headers:50/av.mp4", most=9),
    refused("no HTTP at all", f"{HEAD} --network-retries 1 $BAD/garbage/av.mp4", "", most=2),
    refused("HTTP where TLS is meant", f"{HEAD} --network-retries 1 https://$HTTPHOST/media/av.mp4", "", most=2),
    refused("TLS where HTTP is meant", f"{HEAD} --network-retries 1 http://$WEBHOST/media/av.mp4", "400", most=2),
]
REDIRECTS = [
    whole("http to https", f"{HEAD} $HTTP/to-https/media/av.mp4", most=4),
    whole("to a place on the same server", f"{ALL} $WEB/to-relative/media/noise.wav"),
    whole("to a signed place", f"{ALL} $WEB/to-query/noise.wav"),
    refused("https to http", f"{HEAD} $WEB/to-http/media/av.mp4", "http"),
    refused("to a file", f"{HEAD} $WEB/to-file/av.mp4", ""),
    refused("in a circle", f"{HEAD} $WEB/loop/av.mp4", "redirect", most=21),
    refused("deeper and deeper", f"{HEAD} $WEB/deep/av.mp4", "redirect", most=21),
    whole("three times", f"{HEAD} $BAD/moved:3/av.mp4", most=9),
    refused("a password does not go to another server", f"{HEAD} http://$USERINFO@$HTTPHOST/to-other/basic/av.mp4", "401", most=3),
    refused("a header does not go to another server", f"{HEAD} --header \"$LETTER\" $HTTP/to-other/header/av.mp4", "403", most=3),
    whole("a header goes to the same server", f"{HEAD} --header \"$LETTER\" $WEB/to-relative/header/av.mp4", most=6),
]
TRUST = [
    refused("an authority that is not known", f"SSL_CERT_FILE= {HEAD} $WEB/media/av.mp4", "certificate", most=0),
    whole("the authority by --ca", f"SSL_CERT_FILE= {HEAD} --ca $CA $WEB/media/av.mp4", most=6),
    Row("a file of authorities that is not there", f"{HEAD} --ca none.pem $WEB/media/av.mp4", None, "none.pem", most=0, least=0),
    Row("a file of authorities that is none", f"{HEAD} --ca $MEDIA/text.mp4 $WEB/media/av.mp4", None, "text.mp4|certificate", most=0,
        least=0),
    refused("an expired certificate", f"{HEAD} $EXPIRED/media/av.mp4", "certificate", most=0),
    refused("a certificate of another name", f"{HEAD} $OTHER/media/av.mp4", "certificate", most=0),
    refused("a certificate of another authority", f"{HEAD} $FOREIGN/media/av.mp4", "certificate", most=0),
]
PLACES = [
    refused("a name that nobody has", f"{HEAD} http://nosuch.invalid/av.mp4", "resolve|host|name", most=0),
    refused("nobody listens", f"{HEAD} --network-retries 1 http://127.0.0.1:1/av.mp4", "refused|connect", most=0),
    *[Row(f"an address that is none: {address!r}", f"{HEAD} $'{address}'", None, "", most=0, least=0) for address in (
        "http://", "http:///av.mp4", "http://[::1/av.mp4", "http://a b/av.mp4", "http://localhost:99999/av.mp4", "s3://", "s3://media",
        "https://:443/av.mp4", "http://127.0.0.1:1/a\\r\\nX-Y: z")],
    refused("another scheme is a file's name", f"{HEAD} ftp://localhost/av.mp4", "no such file", most=0),
    refused("file: is a file's name", f"{HEAD} file://$MEDIA/av.mp4", "no such file", most=0),
    Row("a file whose name is like an address", f"mkdir -p http:/x; cp $MEDIA/av.mp4 http:/x/; {HEAD} ./http:/x/av.mp4 | grep -q h264",
        most=0, least=0),
    whole("an odd name", f"{ALL} $WEB/media/$ODD"),
    Row("outputs are named by the address", "mediatool waveform --quiet --format dat -o '{stem}.dat' $WEB/query/$ODD?signature=$TOKEN; "
        "ls | grep -qxF 'Größe 1+2 #50%.dat'", 0, ""),
    Row("a playlist does not open the network", f"printf '#EXTM3U\\n#EXT-X-TARGETDURATION:4\\n#EXTINF:4,\\n%s\\n#EXT-X-ENDLIST\\n' "
        f"$HTTP/media/mpegts-10s.ts > a.m3u8; {HEAD} --allow-nested a.m3u8", None, "", most=0, least=0),
    Row("a list does not open the network", "printf 'ffconcat version 1.0\\nfile %s\\n' $HTTP/media/av.mp4 > a.ffconcat; "
        f"{HEAD} --allow-nested a.ffconcat", None, "", most=0, least=0),
]
RIGHTS = [
    whole("a password in the address", f"{ALL} https://$USERINFO@$WEBHOST/basic/noise.wav"),
    refused("a wrong one", f"{HEAD} https://lector-7f3a:wrong@$WEBHOST/basic/av.mp4", "401", most=2),
    refused("none", f"{HEAD} $WEB/basic/av.mp4", "401"),
    whole("netrc", "printf 'machine localhost login lector-7f3a password \"open sesame+1\"\\n' > ~/.netrc; chmod 600 ~/.netrc; "
          f"{ALL} --netrc $WEB/basic/noise.wav"),
    refused("netrc that is not asked for", f"{HEAD} $WEB/basic/av.mp4", "401"),
    refused("netrc for another machine", "printf 'machine example.org login lector-7f3a password \"open sesame+1\"\\n' > ~/.netrc; "
            f"{HEAD} --netrc $WEB/basic/av.mp4", "401"),
    whole("a header", f"{ALL} --header \"$LETTER\" $WEB/header/noise.wav"),
    whole("two headers", f"{HEAD} --header \"$LETTER\" --header 'X-Other: a' $WEB/header/av.mp4"),
    refused("no header", f"{HEAD} $WEB/header/av.mp4", "403"),
    *[Row(f"a header that is none: {header!r}", f"{HEAD} --header $'{header}' $WEB/media/av.mp4", None, "", most=0, least=0) for header in (
        "X-Letter", "a: b\\r\\nc: d", ": x", "Range: bytes=0-1", "Host: x")],
    whole("a signature in the query", f"{ALL} $WEB/query/noise.wav?signature=$TOKEN"),
    whole("a proxy", f"http_proxy=$PROXY {ALL} http://media.test/media/noise.wav"),
    whole("a proxy and TLS", f"https_proxy=$PROXY {ALL} https://media.test/media/noise.wav"),
    whole("a proxy with a password", f"https_proxy=http://porter:let-me-through@$LOCKED {HEAD} https://media.test/media/av.mp4"),
    refused("a proxy that wants a password", f"https_proxy=http://$LOCKED {HEAD} https://media.test/media/av.mp4", "407|proxy", most=6),
    whole("a proxy that is passed by", f"http_proxy=http://127.0.0.1:1 no_proxy=localhost {HEAD} $HTTP/media/av.mp4"),
    refused("a proxy that is not there", f"http_proxy=http://127.0.0.1:1 {HEAD} --network-retries 0 $HTTP/media/av.mp4",
            "proxy|connect", most=0),
]
AWS = "AWS_ACCESS_KEY_ID=$KEY_ID AWS_SECRET_ACCESS_KEY=$KEY AWS_REGION=$REGION"
HERE = f"{AWS} AWS_ENDPOINT_URL=$ENDPOINT"
S3 = [
    whole("S3", f"{HERE} {ALL} s3://media/noise.wav"),
    whole("S3 in capitals", f"{HERE} {HEAD} S3://media/av.mp4"),
    whole("S3 with an odd name", f"{HERE} {ALL} \"s3://media/$ODD_KEY\""),
    whole("S3 with a token of a session", f"AWS_SESSION_TOKEN=some/token+x== {HERE} {HEAD} s3://media/av.mp4",
          asked=("token", r"some/token\+x==")),
    whole("S3 and who pays", f"{HERE} {HEAD} --request-payer s3://media/av.mp4", asked=("payer", "requester")),
    whole("S3 and nobody pays", f"{HERE} {HEAD} s3://media/av.mp4", asked=("payer", "")),
    refused("S3 with a wrong key", f"AWS_SECRET_ACCESS_KEY=x AWS_ACCESS_KEY_ID=$KEY_ID AWS_REGION=$REGION AWS_ENDPOINT_URL=$ENDPOINT {HEAD} "
            "s3://media/av.mp4", "403", most=2),
    Row("S3 without keys", f"AWS_ENDPOINT_URL=$ENDPOINT AWS_REGION=$REGION {HEAD} s3://media/av.mp4", 2, "", most=2, least=0),
    refused("S3, no such file", f"{HERE} {HEAD} s3://media/none.mp4", "404", most=2),
    refused("S3, no such bucket", f"{HERE} {HEAD} s3://nosuch/av.mp4", "404", most=2),
    # hadro answers for the bucket `av.mp4`, which is not there: 404 and not 403 says that the signature was right.
    Row("S3 by the bucket's own name", f"https_proxy=$PROXY {AWS} {HEAD} s3://media/av.mp4", 2, "404", most=4,
        asked=("head", r"CONNECT media\.s3\.eu-west-1\.amazonaws\.com:443 .*")),
    whole("a presigned address", f"{ALL} \"$SIGNED\"", asked=("authorization", "")),
    refused("a presigned address that is over", f"{HEAD} \"$OVER\"", "403", most=2),
]
ROWS = ANSWERS + BODIES + LIES + REDIRECTS + TRUST + PLACES + RIGHTS


def on_disk(command):
    """The line with the file on disk in place of its address."""
    command = re.sub(r'"\$SIGNED"', "$MEDIA/noise.wav", command)
    command = re.sub(r"\S*(?:\$ODD)\S*", '"$MEDIA/Größe 1+2 #50%.wav"', command)
    return re.sub(r"(?<=\s)(?:\$[A-Z0-9]+|https?://[^\s/]+|s3:/)(?:/\S*)?/([\w.-]+)(?:\?\S*)?$", r"$MEDIA/\1", command, flags=re.I)


def stripped(text):
    """JSON without the place of the file."""
    return re.sub(r'"path"\s*:\s*"[^"]*"', '"path":""', text)


@cache
def wanted(world, command):
    end = world.shell(command)
    expect(end.code == 0, f"of the file on disk: exit {end.code}, {end.errors[-200:]}")
    return stripped(end.output), end.files


def tried(world, row, test, variables):
    """Runs a row; raises what is not as it says."""
    world.mark()
    end = world.shell(row.command, test=test, **variables)
    requests = world.requests()
    shown = f"exit {end.code}, {len(requests)} requests: {end.errors.strip()[-300:] or end.output.strip()[-100:]}"
    expect(end.code == row.code if row.code is not None else end.code in (2, 64), f"{shown}; wanted {row.code}")
    expect("Unknown option" not in end.errors, shown)
    if end.code == 0:
        expect(not end.lines and re.search(row.words, end.errors), f"{shown}; wanted {row.words!r}")
    elif end.code == 2:
        expect(len(end.lines) == 1 and end.lines[0].startswith("mediatool: "), f"{shown}; wanted one line")
        # An address may have the words in it.
        expect(re.search(row.words, re.sub(r"\w+:/+\S*", "", end.lines[0]), re.I), f"{shown}; wanted {row.words!r}")
        expect(not any(name.endswith(".dat") or name.endswith(".partial") for name in end.files), f"left {sorted(end.files)}")
    expect(row.least <= len(requests) <= row.most, f"{shown}; {row.least} to {row.most} were wanted")
    if row.asked:
        values = {request[row.asked[0]] for request in requests if row.asked[0] in request}
        expect(values and all(re.fullmatch(row.asked[1], value, re.S) for value in values), f"the log says {values}, not {row.asked}")
    expect(end.seconds < row.within, f"took {end.seconds:.1f} s; {shown}")
    if row.same:
        output, files = wanted(world, on_disk(row.command))
        expect(stripped(end.output) == output, "standard output is another one than that of the file on disk")
        expect(end.files == files, f"the outputs differ: {sorted(end.files)}, {sorted(files)}")
    return f"{len(requests)} requests, {end.seconds:.1f} s" + (f": {end.lines[0]}" if end.lines else "")


def faults(report, world, full=False):
    """Every row; those of S3 where hadro is installed."""
    rows, variables = list(ROWS), {}
    if world.endpoint:
        rows += S3
        variables = {"SIGNED": presigned(world.endpoint, "media", "noise.wav"),
                     "OVER": presigned(world.endpoint, "media", "av.mp4", seconds=-10)}
    report.each("faults", [(row.name, lambda row=row, number=number: tried(world, row, f"row-{number}", variables))
                           for number, row in enumerate(rows) if full or not row.is_long])
