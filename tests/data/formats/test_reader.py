"""What readers share: they close, tell what they have used, and carry the caller's damage."""

from __future__ import annotations

import pytest

from evsurf.data.formats.damage import Damage
from evsurf.data.formats.reader import Header, Options, Reader, SeekableReader
from tests.data.formats.toy import Bare, Toy, header, rows


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "a.toy"
    file.write_bytes(header((2, 4)) + rows((0, 0, 1, 1), (1, 0, 2, 0)))
    return file


def test_a_reader_closes_at_the_end_of_its_block(path):
    reader = Toy(path, Options())
    with reader as entered:
        assert entered is reader
        assert reader.opened == 0
    assert reader.opened == -1


def test_a_reader_closes_when_its_block_fails(path):
    reader = Toy(path, Options())
    with pytest.raises(ZeroDivisionError), reader:
        raise ZeroDivisionError
    assert reader.opened == -1


def test_damage_is_that_of_the_options(path):
    damage = Damage()
    assert Toy(path, Options(damage=damage)).damage is damage


def test_options_do_not_share_their_damage():
    assert Options().damage is not Options().damage


def test_a_reader_need_not_know_what_it_has_used(path):
    assert Reader.consumed.fget(Toy(path, Options())) is None  # type: ignore[attr-defined]
    reader = Bare(path, Options())
    list(reader.pieces(1))
    assert reader.consumed == path.stat().st_size


def test_positions_are_known_at_once_unless_a_reader_says_otherwise(path):
    reader = Toy(path, Options())
    assert isinstance(reader, SeekableReader)
    assert reader.indexed


def test_a_header_knows_nothing_by_itself():
    assert (Header().size, Header().size_source, dict(Header().facts)) == (None, "guess", {})
