"""From a server to a folder of recordings, as data sets use it."""

from __future__ import annotations

import io
import ssl
import zipfile

import pytest

from evsurf.data.downloads import (
    ArchiveError,
    ChecksumError,
    DownloadError,
    MissingDataError,
    Source,
    Transport,
    extract,
    fetch,
)


def test_an_archive_goes_from_a_server_to_a_folder(served, trust: ssl.SSLContext, tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("Train/7/00001.bin", b"events")
    served.content = content.getvalue()
    source = Source("Train.zip", "https://example.org", url=served.url)
    archive_path = fetch(source, tmp_path / "deep" / "data", transport=Transport(context=trust))
    extract(archive_path, archive_path.parent / source.unpacked)
    recording = tmp_path / "deep" / "data" / "Train" / "Train" / "7" / "00001.bin"
    assert recording.read_bytes() == b"events"


def test_a_caller_can_catch_what_goes_wrong_by_its_plain_kind():
    assert issubclass(ChecksumError, DownloadError)
    assert issubclass(DownloadError, OSError)
    assert issubclass(ArchiveError, ValueError)
    assert issubclass(MissingDataError, FileNotFoundError)


def test_no_other_protocol_is_even_known(trust: ssl.SSLContext):
    with pytest.raises(DownloadError, match="no https address"):
        Transport(context=trust).open("http://127.0.0.1:1/", {})
