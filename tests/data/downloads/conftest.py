"""A real https server on this machine that serves one file, honestly or with one fault."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@dataclass
class Served:
    """What the server has and how it behaves; tests change it as they go."""

    url: str = ""
    content: bytes = b""
    tag: str | None = '"one"'
    ranges: bool = True
    status: int = 200
    moved_to: str | None = None
    announced: int | None = None
    break_after: list[int] = field(default_factory=list)
    """Bytes after which each of the next answers breaks off."""
    asked: list[dict[str, str]] = field(default_factory=list)
    """Headers of the requests so far."""

    def respond(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked.append(dict(handler.headers))
        if self.moved_to is not None and handler.path == "/file":
            handler.send_response(302)
            handler.send_header("Location", self.moved_to)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        if self.status != 200:
            handler.send_error(self.status)
            return
        start = self.start(handler)
        if start > len(self.content):
            handler.send_error(416)
            return
        self.send(handler, start)

    def start(self, handler: BaseHTTPRequestHandler) -> int:
        found = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        same = handler.headers.get("If-Range") == self.tag
        return int(found[1]) if found and same and self.ranges else 0

    def send(self, handler: BaseHTTPRequestHandler, start: int) -> None:
        body = self.content[start:]
        handler.send_response(206 if start else 200)
        length = len(body) if self.announced is None else self.announced
        handler.send_header("Content-Length", str(length))
        if start:
            last, total = len(self.content) - 1, len(self.content)
            handler.send_header("Content-Range", f"bytes {start}-{last}/{total}")
        if self.tag is not None:
            handler.send_header("ETag", self.tag)
        handler.end_headers()
        stop = self.break_after.pop(0) if self.break_after else len(body)
        handler.wfile.write(body[:stop])
        handler.close_connection = True


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine, with its key, made on the spot."""
    if shutil.which("openssl") is None:
        pytest.skip("making a certificate needs the program openssl")
    folder = tmp_path_factory.mktemp("certificate")
    made = folder / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "one.pem")]
    subprocess.run(command, check=True, capture_output=True)
    made.write_bytes((folder / "key.pem").read_bytes() + (folder / "one.pem").read_bytes())
    return made


@pytest.fixture
def trust(certificate: Path) -> ssl.SSLContext:
    """Trusts that certificate alone."""
    return ssl.create_default_context(cafile=str(certificate.parent / "one.pem"))


@pytest.fixture
def served(certificate: Path, monkeypatch: pytest.MonkeyPatch):
    """The server, running."""
    monkeypatch.setenv("no_proxy", "*")
    state = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            state.respond(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    state.url = f"https://127.0.0.1:{server.server_port}/file"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()
