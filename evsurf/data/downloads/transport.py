"""Asking a server for the bytes of a file, over https alone."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPResponse
from importlib.metadata import version
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from evsurf.data.downloads.errors import DownloadError

Progress: TypeAlias = Callable[[str, int, int | None], object]
"""Called with a file's name, the bytes there so far and, where known, the bytes in all."""


@dataclass(frozen=True)
class Transport:
    """How files are fetched.

    ```python
    NMNIST("data", download=Transport(progress=lambda file, done, total: print(file, done, total)))
    ```
    """

    progress: Progress | None = None
    context: ssl.SSLContext | None = None
    """Whom to trust; by default whom the system trusts."""
    attempts: int = 5
    """How often to try again in a row when nothing arrives."""
    timeout: float = 60.0
    """Seconds of silence after which a connection counts as broken."""
    pause: float = 1.0
    """Seconds before the second attempt; doubled before each further one."""

    def open(self, url: str, headers: dict[str, str]) -> HTTPResponse:
        """The server's answer, after redirections that stay on https."""
        check_https(url)
        request = urllib.request.Request(url, headers={**_HEADERS, **headers})
        opener = urllib.request.OpenerDirector()
        # Only these: no plain http, no files, no ftp, wherever a redirection may point.
        for handler in (
            urllib.request.ProxyHandler(),
            urllib.request.HTTPSHandler(context=self.context),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
            _RedirectsOnHttps(),
        ):
            opener.add_handler(handler)
        answer: HTTPResponse = opener.open(request, timeout=self.timeout)
        encoding = answer.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            answer.close()
            raise DownloadError(f"{url} answered with the content encoding {encoding!r}")
        return answer


_HEADERS = {"User-Agent": f"evsurf/{version('evsurf')}", "Accept-Encoding": "identity"}


def check_https(url: str) -> None:
    """Refuses every address but a full https one."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise DownloadError(f"{url} is no https address, and nothing else is fetched")


class _RedirectsOnHttps(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: Any,
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> urllib.request.Request | None:
        check_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)
