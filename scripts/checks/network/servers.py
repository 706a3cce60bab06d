"""Group `servers`: each server does what the other groups need, as curl and ffprobe see it."""

import json
import re

from ..tools import expect
from .others import presigned

# What is tried, a line of bash, what it prints, and the requests that all servers together count (None: not counted).
CURL = "curl -sS --max-time 5"
CODE = f"{CURL} -o a -w '%{{http_code}} %{{size_download}}'"
ROWS = [
    ("HTTP/2 by TLS", f"{CURL} -o a -w '%{{http_version}} %{{http_code}}' $WEB/media/av.mp4; cmp a $MEDIA/av.mp4", "2 200", 1),
    ("HTTP/1.1 by TLS", f"{CURL} -o a -w '%{{http_version}} %{{http_code}}' $HTTPS1/media/av.mp4; cmp a $MEDIA/av.mp4", "1.1 200", 1),
    ("a range", f"{CODE} -r 100-199 $WEB/media/av.mp4", "206 100", 1),
    ("two on one connection", f"{CURL} -o a -w '%{{num_connects}} ' $WEB/media/av.mp4 -o b $WEB/media/text.mp4", "1 0 ", 2),
    ("an odd name", f"{CODE} $WEB/media/$ODD", "200 576176", 1),
    ("a range of nothing", f"{CODE} -r 0-99 $WEB/media/empty.mp4", "416 .*|200 0", 1),
    ("If-Range that holds", f"e=$({CURL} -I $WEB/media/av.mp4 | tr -d '\\r' | sed -n 's/^etag: //p'); {CODE} -r 0-9 -H \"If-Range: $e\" "
     "$WEB/media/av.mp4", "206 10", 2),
    ("If-Range that does not", f"{CODE} -r 0-9 -H 'If-Range: \"x\"' $WEB/media/text.mp4", "200 900", 1),
    ("no password", f"{CODE} $WEB/basic/av.mp4", "401 .*", 1),
    ("a password", f"{CODE} -u \"$USER_PASSWORD\" $WEB/basic/text.mp4", "200 900", 1),
    ("a password in the address", f"{CODE} https://$USERINFO@$WEBHOST/basic/text.mp4", "200 900", 1),
    ("a wrong password", f"{CODE} -u lector-7f3a:x $WEB/basic/text.mp4", "401 .*", 1),
    ("a signature in the query", f"{CODE} $WEB/query/text.mp4?signature=$TOKEN", "200 900", 1),
    ("none", f"{CODE} $WEB/query/text.mp4?signature=x", "403 .*", 1),
    ("a header", f"{CODE} -H \"$LETTER\" $WEB/header/text.mp4", "200 900", 1),
    ("no header", f"{CODE} $WEB/header/text.mp4", "403 .*", 1),
    *[(f"{code}", f"{CODE} $WEB/status/{code}/av.mp4", f"{code} .*", 1) for code in (401, 403, 404, 410, 429, 500, 503)],
    ("429 says when", f"{CURL} -o /dev/null -D - $WEB/status/429/a | grep -i retry-after", "(?i)retry-after: 1\\s*", 1),
    ("no ranges", f"{CODE} -r 0-9 $WEB/noranges/text.mp4", "200 900", 1),
    ("no ETag", f"{CURL} -I $WEB/noetag/text.mp4 | grep -ic etag", "0\\s*", 1),
    ("compressed for who asks", f"{CURL} -H 'Accept-Encoding: gzip' -o a $WEB/gzip/text.mp4; head -c 2 a | od -An -tx1", " 1f 8b\n", 1),
    ("not for others", f"{CODE} -r 0-9 $WEB/gzip/text.mp4", "206 10", 1),
    ("no HEAD", f"{CODE} -I $WEB/getonly/text.mp4", "403 .*", 1),
    ("slow", f"timeout 1 {CURL} -o a $WEB/slow/noise.wav; s=$(stat -c %s a); [ $s -lt 300000 -a $s -gt 50000 ] && echo yes",
     "yes\n", 1),
    ("to https", f"{CODE} -L $HTTP/to-https/media/text.mp4", "200 900", 2),
    ("to http", f"{CODE} -L $WEB/to-http/media/text.mp4", "200 900", 2),
    ("to another name, without the password", f"{CODE} -L -u \"$USER_PASSWORD\" $HTTP/to-other/basic/text.mp4", "401 .*", 2),
    ("to a place here", f"{CODE} -L $WEB/to-relative/media/text.mp4", "200 900", 2),
    ("to a place with a signature", f"{CODE} -L $WEB/to-query/text.mp4", "200 900", 2),
    ("to a file", f"{CODE} -L $WEB/to-file/x", "302 .*", 1),
    ("in a circle", f"{CODE} -L --max-redirs 5 $WEB/loop/x", "302 .*", 6),
    ("deeper and deeper", f"{CODE} -L --max-redirs 5 $WEB/deep/x", "302 .*", 6),
    ("an authority that is not known", f"{CODE} --cacert /etc/hostname $WEB/media/av.mp4", "000 0", 0),
    ("expired", f"{CURL} $EXPIRED/media/av.mp4 2>&1", ".*expired.*", 0),
    ("another name", f"{CURL} $OTHER/media/av.mp4 2>&1", ".*no alternative certificate subject name.*", 0),
    ("of another authority", f"{CURL} $FOREIGN/media/av.mp4 2>&1", ".*unable to get local issuer.*", 0),
    ("a proxy", f"http_proxy=$PROXY {CODE} http://media.test/media/text.mp4", "200 900", 2),
    ("a proxy and TLS", f"https_proxy=$PROXY {CODE} https://media.test/media/text.mp4", "200 900", 2),
    ("a proxy that wants a password", f"http_proxy=http://$LOCKED {CODE} http://media.test/media/text.mp4", "407 0", 1),
    ("and gets it", f"http_proxy=http://porter:let-me-through@$LOCKED {CODE} http://media.test/media/text.mp4", "200 900", 2),
    ("a name that no proxy knows", f"http_proxy=$PROXY {CODE} http://nosuch.test/", "502 0", 1),
    # The faulty server: curl's exit codes are 18 for a part, 52 for nothing, 56 for a reset, 28 for the time, 7 for refused.
    ("plain", f"{CODE} -r 100-199 $BAD/plain/text.mp4; {CODE} $BADTLS/plain/text.mp4", "206 100200 900", 2),
    ("the content", f"{CURL} -r 1000-200000 -o a $BAD/plain/noise.wav; "
     "head -c 200001 $MEDIA/noise.wav | tail -c +1001 | cmp - a && echo same", "same\n", 1),
    ("a file that is not there", f"{CODE} $BAD/plain/none.mp4", "404 .*", 1),
    ("a suffix", f"{CURL} -r -9 $BAD/plain/text.mp4 | tail -c 7", " media.\n|media.\n", 1),
    ("a reset, once", f"{CODE} $BAD/reset:1/noise.wav; echo \" $?\"; {CODE} $BAD/reset:1/noise.wav", "200 \\d+ 56\n200 11520078", 2),
    ("a short body, once", f"{CODE} $BAD/short:1/noise.wav; echo \" $?\"; {CODE} $BAD/short:1/noise.wav",
     "200 \\d+ 18\n200 11520078", 2),
    ("a short body by TLS", f"{CODE} $BADTLS/short:1/noise.wav; echo \" $?\"", "200 \\d+ (18|56)\n", 1),
    ("no answer, once", f"{CODE} $BAD/silent:1/text.mp4; echo \" $?\"; {CODE} $BAD/silent:1/text.mp4", "000 0 52\n200 900", 2),
    ("503, twice", f"for i in 1 2 3; do {CODE} $BAD/status:503:2/text.mp4; echo; done", "503 8\n503 8\n200 900\n", 3),
    ("429 with a time", f"{CURL} -D - -o /dev/null $BAD/status:429:1:2/text.mp4 | grep -i retry", "Retry-After: 2\\s*", 1),
    ("it dies and comes back", f"{CODE} $BAD/dies:1:5/noise.wav; echo \" $?\"; {CURL} $BAD/plain/text.mp4; echo $?; sleep 0.7; "
     f"{CODE} $BAD/dies:1:5/noise.wav", "200 \\d+ (18|56)\n7\n200 11520078", 2),
    ("it drips", f"{CURL} --max-time 1 -o a $BAD/drip:50/text.mp4; echo $?; [ $(stat -c %s a) -gt 200 ] && echo some", "28\nsome\n", None),
    ("it stalls", f"{CURL} --max-time 1 -o a $BAD/stall/text.mp4; echo $?; stat -c %s a", "28\n450\n", None),
    ("it is deaf", f"{CURL} --max-time 1 -o a $BAD/deaf/text.mp4; echo $?", "28\n", None),
    ("it changes", "for i in 1 2; do " + CURL + " -D h -o a -H 'If-Range: \"one\"' -r 200-299 $BAD/changes:1/text.mp4; "
     "head -1 h | cut -c 10-12; grep -i etag h; stat -c %s a; done", '206\nETag: "one"\r\n100\n200\nETag: "two"\r\n900\n', 2),
    ("it changes and knows no If-Range", "for i in 1 2; do " + CURL + " -o a$i -w '%{http_code} ' -H 'If-Range: \"one\"' -r 200-299 "
     "$BAD/changes:1:ignorant/text.mp4; done; cmp -s a1 a2 || echo differ", "206 206 differ\n", 2),
    ("it grows", f"for i in 1 2; do {CODE} $BAD/grows:1/text.mp4; echo; done", "200 900\n200 1900\n", 2),
    ("no range", f"{CODE} -r 0-9 $BAD/noranges/text.mp4", "200 900", 1),
    ("in chunks", f"{CODE} -r 0-9 $BAD/chunked/noise.wav; cmp a $MEDIA/noise.wav", "200 11520078", 1),
    *[(f"Content-Range: {kind}", f"{CURL} -r 10-19 -D - -o /dev/null $BAD/badrange:{kind}/text.mp4 | grep -i content-range || echo none",
       wanted, 1) for kind, wanted in (
        ("text", "Content-Range: bytes all of it\\s*"), ("missing", "none\n"), ("shifted", "Content-Range: bytes 11-20/900\\s*"),
        ("small", "Content-Range: bytes 10-19/5\\s*"), ("huge", "Content-Range: bytes 10-19/9{26}\\s*"),
        ("unknown", "Content-Range: bytes 10-19/\\*\\s*"))],
    ("another range", f"{CURL} -r 10-19 -D - -o /dev/null $BAD/otherrange/noise.wav | grep -i content-range",
     "Content-Range: bytes 1010-1019/.*", 1),
    ("claims gzip", f"{CURL} -r 10-19 -D - -o /dev/null $BAD/zipped/text.mp4 | grep -i encoding", "Content-Encoding: gzip\\s*", 1),
    ("many headers", f"{CURL} -D - -o /dev/null $BAD/headers:100/text.mp4 | grep -c ^X-", "100\n", 1),
    # Debian's curl has a limit of its own; its library in other places has none.
    ("headers without end", f"{CURL} --max-time 1 -D h -o /dev/null $BAD/headers:always/text.mp4; echo $?; [ $(wc -l < h) -gt 200 ] "
     "&& echo many", "(28|56)\nmany\n", 1),
    ("no HTTP", f"{CURL} $BAD/garbage/text.mp4; echo $?", "1\n", 1),
    ("HEAD is refused", f"{CODE} -I $BAD/getonly/text.mp4", "403 0", 1),
    ("moved twice", f"{CODE} -L $BAD/moved:2/text.mp4", "200 900", 3),
]
# With an S3 server.
SIGNED = f"{CODE} --aws-sigv4 aws:amz:$REGION:s3 -u $KEY_ID:$KEY"
DIGEST = "-H 'x-amz-content-sha256: UNSIGNED-PAYLOAD'"
S3 = [
    ("a signed request", f"{SIGNED} {DIGEST} $ENDPOINT/media/text.mp4", "200 900", 1),
    ("a signed request without the digest", f"{SIGNED} $ENDPOINT/media/text.mp4", "400 .*", 1),
    ("a wrong key", f"{SIGNED}x {DIGEST} $ENDPOINT/media/text.mp4", "403 .*", 1),
    ("no signature", f"{CODE} {DIGEST} $ENDPOINT/media/text.mp4", "403 .*", 1),
    ("a presigned address", f"{CODE} -r 0-9 \"$SIGNED\"", "206 10", 1),
    ("and HEAD", f"{CODE} -I \"$SIGNED\"", "403 .*", 1),
    ("presigned, and over", f"{CODE} \"$OVER\"", "403 .*", 1),
]


def servers(report, world, full=False):
    """What curl sees."""
    rows, variables = ROWS, {}
    if world.endpoint:
        rows = ROWS + S3
        variables = {"SIGNED": presigned(world.endpoint, "media", "text.mp4"),
                     "OVER": presigned(world.endpoint, "media", "text.mp4", seconds=-10)}
    report.each("servers", [(name, lambda row=(name, *row): tried(world, variables, *row)) for name, *row in rows])
    report.each("servers", [("ffprobe reads from each", lambda: probed(world))])


def tried(world, variables, name, command, wanted, count):
    world.mark()
    end = world.shell(command, test=re.sub(r"\W+", "-", name), seconds=30, **variables)
    expect(re.fullmatch(wanted, end.output, re.S), f"{end.output!r} {end.errors[-200:]!r}, not {wanted!r}")
    found = world.requests()
    expect(count in (None, len(found)), f"{len(found)} requests are counted, not {count}: {[one['uri'] for one in found]}")
    return f"{len(found)} requests"


def probed(world):
    """The duration, by ffprobe, from each good server."""
    for address in ("$WEB/media", "$HTTP/media", "$HTTPS1/media", "$BAD/plain", "$BADTLS/plain"):
        end = world.shell(f"ffprobe -v error -show_format -of json {address}/film.mp4")
        expect(end.code == 0, end.errors[-200:])
        duration = float(json.loads(end.output)["format"]["duration"])
        expect(abs(duration - 40) < 0.1, f"{duration} s")
    return "film.mp4"
