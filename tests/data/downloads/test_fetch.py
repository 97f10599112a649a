"""A file comes once, whole, over https and as published; or it does not come at all."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import ssl
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evsurf.data.downloads import (
    ChecksumError,
    DownloadError,
    MissingDataError,
    Source,
    Transport,
    fetch,
)
from tests.data.downloads.conftest import Served

CONTENT = random.Random(1).randbytes(700_000)
DIGEST = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
PAGE = "https://example.org/recordings"


@pytest.fixture
def transport(trust: ssl.SSLContext) -> Transport:
    return Transport(context=trust, attempts=2, pause=0.0, timeout=10.0)


def source(served: Served, **changes: Any) -> Source:
    served.content = served.content or CONTENT
    return Source(**{"file": "a.zip", "page": PAGE, "url": served.url, "digest": DIGEST, **changes})


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_file_comes_whole_and_leaves_nothing_else(served, transport, tmp_path):
    path = fetch(source(served, size=700_000), tmp_path, transport=transport)
    assert path == tmp_path / "a.zip"
    assert path.read_bytes() == CONTENT
    assert files(tmp_path) == {"a.zip", "checksums.json"}


def test_a_file_that_is_there_needs_no_network(served, transport, tmp_path):
    fetch(source(served), tmp_path, transport=transport)
    asked = len(served.asked)
    away = source(served, url="https://nowhere.invalid/file")
    assert fetch(away, tmp_path) == tmp_path / "a.zip"
    assert len(served.asked) == asked


def test_what_broke_off_is_continued_where_it_was(served, transport, tmp_path):
    served.break_after = [300_000, 100_000]
    path = fetch(source(served), tmp_path, transport=transport)
    assert path.read_bytes() == CONTENT
    starts = [request.get("Range") for request in served.asked]
    assert starts[0] is None
    assert [int(start.removeprefix("bytes=").removesuffix("-")) for start in starts[1:]] == [
        300_000,
        400_000,
    ]
    assert {request.get("If-Range") for request in served.asked[1:]} == {'"one"'}


def test_what_broke_off_is_continued_by_the_next_run(served, trust, tmp_path):
    served.break_after = [300_000]
    once = Transport(context=trust, attempts=1, timeout=10.0)
    served_source = source(served)
    served.break_after = [300_000, 0]
    with pytest.raises(DownloadError, match="kept and will be continued"):
        fetch(served_source, tmp_path, transport=once)
    assert files(tmp_path) >= {"a.zip.part", "a.zip.part.json"}
    assert not (tmp_path / "a.zip").exists()
    fetch(served_source, tmp_path, transport=once)
    assert served.asked[-1]["Range"] == "bytes=300000-"
    assert (tmp_path / "a.zip").read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_comes_anew(served, transport, tmp_path):
    """The tag says so; otherwise halves of two files would be put together."""
    one = Transport(context=transport.context, attempts=1, timeout=10.0)
    wanted = source(served)
    served.content = bytes(len(CONTENT))
    served.break_after = [300_000, 0]
    with pytest.raises(DownloadError, match="kept"):
        fetch(wanted, tmp_path, transport=one)
    served.content, served.tag = CONTENT, '"two"'
    assert fetch(wanted, tmp_path, transport=one).read_bytes() == CONTENT


@pytest.mark.parametrize("behaviour", [{"ranges": False}, {"tag": None}, {"tag": 'W/"weak"'}])
def test_a_server_that_cannot_continue_sends_all_again(served, transport, tmp_path, behaviour):
    for name, value in behaviour.items():
        setattr(served, name, value)
    served.break_after = [300_000]
    assert fetch(source(served), tmp_path, transport=transport).read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_thrown_away(served, transport, tmp_path):
    (tmp_path / "a.zip.part").write_bytes(bytes(800_000))
    state = {"url": served.url, "validator": '"one"', "total": 700_000}
    (tmp_path / "a.zip.part.json").write_text(json.dumps(state))
    assert fetch(source(served), tmp_path, transport=transport).read_bytes() == CONTENT


def test_a_part_of_unknown_origin_is_not_continued(served, transport, tmp_path):
    (tmp_path / "a.zip.part").write_bytes(bytes(300_000))
    assert fetch(source(served), tmp_path, transport=transport).read_bytes() == CONTENT
    assert "Range" not in served.asked[0]


def test_every_flipped_bit_is_refused(tmp_path, served):
    """On disk, where the check is the same as after fetching; a thousand places in a small file."""
    content = CONTENT[:2_000]
    wanted = source(served, digest=f"sha256:{hashlib.sha256(content).hexdigest()}")
    path = tmp_path / "a.zip"
    for bit in random.Random(2).sample(range(8 * len(content)), 1_000):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(ChecksumError, match="was published. Delete it"):
            fetch(wanted, tmp_path)


def test_a_flipped_bit_on_the_way_is_refused_and_nothing_kept(served, transport, tmp_path):
    served.content = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
    with pytest.raises(ChecksumError, match="was published"):
        fetch(source(served), tmp_path, transport=transport)
    assert not (tmp_path / "a.zip").exists()
    assert not (tmp_path / "a.zip.part").exists()


def test_a_published_md5_is_checked_too(served, transport, tmp_path):
    right = f"md5:{hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()}"
    fetch(source(served, digest=right), tmp_path, transport=transport)
    with pytest.raises(ChecksumError, match="md5"):
        fetch(source(served, digest=f"md5:{'0' * 32}"), tmp_path)


def test_without_a_published_checksum_the_first_file_sets_it(served, transport, tmp_path):
    unknown = source(served, digest=None)
    fetch(unknown, tmp_path, transport=transport)
    ledger = json.loads((tmp_path / "checksums.json").read_text())
    assert ledger == {"a.zip": DIGEST.removeprefix("sha256:")}
    (tmp_path / "a.zip").unlink()
    served.content = CONTENT + b"more"
    with pytest.raises(ChecksumError, match="when it first came here"):
        fetch(unknown, tmp_path, transport=transport)


def test_a_checksum_that_a_person_wrote_down_is_demanded(served, transport, tmp_path):
    (tmp_path / "checksums.json").write_text(json.dumps({"a.zip": "0" * 64}))
    with pytest.raises(ChecksumError, match="0" * 64):
        fetch(source(served, digest=None), tmp_path, transport=transport)


def test_a_broken_list_of_checksums_is_an_error(served, transport, tmp_path):
    for content in ("{", "[1]", '{"a.zip": "short"}'):
        (tmp_path / "checksums.json").write_text(content)
        with pytest.raises(ChecksumError, match="checksums"):
            fetch(source(served), tmp_path, transport=transport)


def test_another_size_is_refused_before_the_bytes_come(served, transport, tmp_path):
    with pytest.raises(ChecksumError, match="offers 700,000 bytes, and 5 were expected"):
        fetch(source(served, size=5), tmp_path, transport=transport)
    assert not (tmp_path / "a.zip.part").exists()


def test_a_missing_page_says_what_to_do_by_hand(served, transport, tmp_path):
    served.status = 404
    with pytest.raises(DownloadError, match=f"404 Not Found. Fetch a.zip from {PAGE} and put it"):
        fetch(source(served), tmp_path, transport=transport)
    assert len(served.asked) == 1


def test_a_busy_server_is_asked_again(served, transport, tmp_path):
    served.status = 503
    with pytest.raises(DownloadError, match="2 attempts in a row"):
        fetch(source(served), tmp_path, transport=transport)
    assert len(served.asked) == 2


def test_a_redirection_is_followed_on_https_alone(served, transport, tmp_path):
    served.moved_to = served.url.replace("/file", "/elsewhere")
    assert fetch(source(served), tmp_path, transport=transport).exists()
    for address in (served.url.replace("https", "http"), "file:///etc/hostname", "ftp://a/b"):
        served.moved_to = address
        with pytest.raises(DownloadError):
            fetch(source(served, file="b.zip"), tmp_path, transport=transport)
    assert not (tmp_path / "b.zip").exists()


def test_what_broke_off_behind_a_redirection_is_continued(served, transport, tmp_path):
    served.moved_to = served.url.replace("/file", "/elsewhere")
    served.break_after = [300_000]
    assert fetch(source(served), tmp_path, transport=transport).read_bytes() == CONTENT
    assert served.asked[-1]["Range"] == "bytes=300000-"


@pytest.mark.parametrize("url", ["http://example.org/a", "file:///a", "example.org/a", "https:///"])
def test_other_addresses_are_refused_at_once(url):
    with pytest.raises(DownloadError, match="no https address"):
        Source("a.zip", PAGE, url=url)


def test_a_stranger_is_not_trusted(served, tmp_path):
    with pytest.raises(DownloadError, match="1 attempts in a row: .*CERTIFICATE_VERIFY_FAILED"):
        fetch(source(served), tmp_path, transport=Transport())


def test_without_a_network_the_error_comes_at_once(tmp_path):
    away = Source("a.zip", PAGE, url="https://nowhere.invalid/file")
    with pytest.raises(DownloadError, match=f"nowhere.invalid.* Fetch a.zip from {PAGE}"):
        fetch(away, tmp_path)
    assert files(tmp_path) == set()


def test_only_one_process_fetches_a_file(served, transport, tmp_path):
    """The first one holds it while the second one asks."""
    fcntl = pytest.importorskip("fcntl")
    with (tmp_path / ".a.zip.part.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(DownloadError, match="being fetched by another process"):
            fetch(source(served), tmp_path, transport=transport)
    assert fetch(source(served), tmp_path, transport=transport).exists()


def test_progress_is_told(served, trust, tmp_path):
    told = []
    transport = Transport(context=trust, progress=lambda *values: told.append(values))
    fetch(source(served), tmp_path, transport=transport)
    assert told[-1] == ("a.zip", 700_000, 700_000)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_disk_too_small_is_said_before_it_is_full(served, transport, tmp_path, monkeypatch):
    class Disk(NamedTuple):
        total: int = 1_000_000
        used: int = 999_000
        free: int = 1_000

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk())
    with pytest.raises(DownloadError, match="has 1,000 bytes left, and 700,000 more are needed"):
        fetch(source(served), tmp_path, transport=transport)


def test_a_server_that_sends_more_than_it_should_is_stopped(served, transport, tmp_path):
    served.tag = None

    def endless(handler, start):
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        handler.wfile.write(CONTENT)

    served.send = endless
    with pytest.raises(DownloadError, match="more than the 100 bytes"):
        fetch(source(served, size=100), tmp_path, transport=transport)


def test_what_no_server_has_is_fetched_by_hand(tmp_path):
    by_hand = Source("a.zip", PAGE)
    with pytest.raises(MissingDataError, match=f"Fetch a.zip from {PAGE} and put it into"):
        fetch(by_hand, tmp_path)
    (tmp_path / "a.zip").write_bytes(CONTENT)
    assert fetch(by_hand, tmp_path) == tmp_path / "a.zip"
    assert json.loads((tmp_path / "checksums.json").read_text())["a.zip"] in DIGEST
