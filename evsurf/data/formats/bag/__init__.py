"""Bags of ROS 1 and ROS 2 with events as dvs_msgs, event_camera_msgs and their like."""

from __future__ import annotations

from pathlib import Path

from evsurf.data.formats.bag.reader import MARK, BagReader
from evsurf.data.formats.reader import Format


def _recognises(head: bytes, path: Path) -> bool:
    if head.startswith(MARK):
        return True
    if path.is_dir():
        return (path / "metadata.yaml").is_file()
    stored = head.startswith((b"\x89MCAP0\r\n", b"SQLite format 3\0"))
    return stored and (path.parent / "metadata.yaml").is_file()


FORMAT = Format(
    name="bag",
    summary="bags of ROS 1 and ROS 2",
    suffixes=(".bag", ".mcap", ".db3"),
    recognises=_recognises,
    open=BagReader,
)
