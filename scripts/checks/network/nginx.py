"""nginx with TLS and HTTP/2 before a folder of media, and what its own configuration can do against clients."""

import os
from contextlib import contextmanager
from pathlib import Path

from ..tools import run
from .process import Log, free_ports, listens, running

USER, PASSWORD = "lector-7f3a", "open sesame+1"
TOKEN = "Zm9v/YmFy+sig=="
TOKEN_IN_QUERY = "Zm9v%2FYmFy%2Bsig%3D%3D"
HEADER = "letter-of-credit"
# Status codes that nothing but an address asks for.
STATUSES = (400, 401, 403, 404, 410, 418, 429, 500, 502, 503, 504)

CONFIGURATION = """
daemon off;
# Who is root in a world of users of its own owns everything in it.
user root root;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 256; }}
http {{
    log_format lines escape=json '{{"time":$msec,"port":$server_port,"protocol":"$server_protocol","connection":$connection,'
        '"method":"$request_method","host":"$http_host","uri":"$request_uri","range":"$http_range","if_range":"$http_if_range",'
        '"authorization":"$http_authorization","agent":"$http_user_agent","accept_encoding":"$http_accept_encoding",'
        '"payer":"$http_x_amz_request_payer","token":"$http_x_amz_security_token",'
        '"status":$status,"body":$body_bytes_sent,"whole":"$request_completion"}}';
    access_log {folder}/access.log lines;
    client_body_temp_path {folder}/temporary;
    proxy_temp_path {folder}/temporary;
    fastcgi_temp_path {folder}/temporary;
    uwsgi_temp_path {folder}/temporary;
    scgi_temp_path {folder}/temporary;
    types {{ video/mp4 mp4 m4a; video/quicktime mov; video/x-matroska mkv; audio/flac flac; application/xml xml; }}
    default_type application/octet-stream;
    sendfile on;
    tcp_nopush on;
    # One after the other on a slow line, a client may pause for long.
    keepalive_timeout 60s;
    keepalive_requests 10000;
    # What S3 refuses and hadro does not: a signature without the digest of the content.
    map "$http_x_amz_content_sha256$args" $is_complete {{
        "~X-Amz-Signature=" 1;
        "~^UNSIGNED-PAYLOAD" 1;
        "~^[0-9a-f]{{64}}" 1;
        default 0;
    }}
    server {{
        listen {address}:{http}{families};
        listen {address}:{https} ssl http2{families};
        listen {address}:{https1} ssl{families};
        ssl_certificate {certificates}/good.pem;
        ssl_certificate_key {certificates}/good.key;
        include {folder}/places.conf;
    }}
    {refused}
    server {{
        listen {address}:{s3} ssl http2{families};
        ssl_certificate {certificates}/good.pem;
        ssl_certificate_key {certificates}/good.key;
        location / {{
            if ($is_complete = 0) {{
                return 400 "<Error><Code>InvalidRequest</Code><Message>Missing x-amz-content-sha256</Message></Error>";
            }}
            proxy_pass http://127.0.0.1:{hadro};
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_buffering off;
        }}
    }}
}}
"""

# A server whose certificate a client has to refuse.
REFUSED = """
    server {{
        listen {address}:{port} ssl http2{families};
        ssl_certificate {certificates}/{name}.pem;
        ssl_certificate_key {certificates}/{name}.key;
        include {folder}/places.conf;
    }}
"""

PLACES = """
location = /connections {{ stub_status; access_log off; }}
location /media/ {{ alias {media}/; }}
location /basic/ {{ alias {media}/; auth_basic "media"; auth_basic_user_file {folder}/users; }}
location /query/ {{ if ($args !~ "(^|&)signature={token}(&|$)") {{ return 403; }} alias {media}/; }}
location /header/ {{ if ($http_x_letter != "{header}") {{ return 403; }} alias {media}/; }}
location /noranges/ {{ alias {media}/; max_ranges 0; }}
location /slow/ {{ alias {media}/; limit_rate 100k; }}
location /noetag/ {{ alias {media}/; etag off; }}
location /gzip/ {{ alias {media}/; gzip on; gzip_types *; gzip_min_length 0; gzip_proxied any; }}
location /getonly/ {{ if ($request_method != GET) {{ return 403; }} alias {media}/; }}
location ~ ^/to-https/(.*)$ {{ return 301 https://{host}:{https}/$1; }}
location ~ ^/to-http/(.*)$ {{ return 302 http://{host}:{http}/$1; }}
location ~ ^/to-other/(.*)$ {{ return 307 http://{elsewhere}:{http}/$1; }}
location ~ ^/to-relative/(.*)$ {{ absolute_redirect off; return 308 /$1; }}
location ~ ^/to-file/ {{ return 302 file:///etc/hostname; }}
location ~ ^/to-query/(.*)$ {{ return 302 https://{host}:{https}/query/$1?signature={token}; }}
location ~ ^/to/([^/]+)/(.*)$ {{ return 302 http://$1:{http}/$2; }}
location ~ ^/loop/ {{ return 302 $request_uri; }}
location ~ ^/deep/(.*)$ {{ return 302 /deep/x$1; }}
"""


class Web:
    """A running nginx: its addresses and what it was asked."""

    def __init__(self, folder, media, host, ports):
        self.folder, self.media, self.host, self.ports = folder, media, host, ports
        self.authority = str(Path(folder, "certificates", "authority.pem"))
        self.log = Log(Path(folder, "access.log"))

    def at(self, path, scheme="https", port=None, host=None, user=""):
        """The address of a path; `port` is the name of one."""
        return f"{scheme}://{user}{host or self.host}:{self.ports[port or scheme]}/{path}"


@contextmanager
def web(folder, media, certificates, host="localhost", address="127.0.0.1", hadro=9, prefix=(), elsewhere="127.0.0.1"):
    """nginx over the folder of media, as `host` at `address`; `hadro` is the port of a plain S3 server on the same machine."""
    os.mkdir(folder)
    names = ("http", "https", "https1", "expired", "other", "foreign", "s3")
    ports = dict(zip(names, free_ports(len(names))))
    digest = run(["openssl", "passwd", "-apr1", PASSWORD]).decode().strip()
    Path(folder, "users").write_text(f"{USER}:{digest}\n")
    values = {"folder": folder, "media": media, "certificates": certificates, "address": address, "host": host,
              "families": " ipv6only=off" if ":" in address else "", "elsewhere": elsewhere, "hadro": hadro,
              "token": TOKEN_IN_QUERY, "header": HEADER, **ports}
    places = PLACES.format(**values) + "".join(
        f"location /status/{code}/ {{ {'add_header Retry-After 1 always; ' if code == 429 else ''}return {code}; }}\n"
        for code in STATUSES)
    Path(folder, "places.conf").write_text(places)
    refused = "".join(REFUSED.format(**values, port=ports[name], name=name) for name in ("expired", "other", "foreign"))
    Path(folder, "nginx.conf").write_text(CONFIGURATION.format(**values, refused=refused))
    os.symlink(certificates, Path(folder, "certificates"))
    os.mkdir(Path(folder, "temporary"))
    command = [*prefix, os.environ.get("NGINX_PROGRAM", "nginx"), "-p", folder, "-c", str(Path(folder, "nginx.conf")),
               "-e", str(Path(folder, "error.log"))]
    # In another network nobody can be asked from here; nginx has bound its ports when it has written its number.
    written = Path(folder, "nginx.pid")
    ready = written.exists if prefix else (lambda: listens(ports["http"], address))
    with running(command, Path(folder, "out"), ready):
        yield Web(folder, media, host, ports)
