"""Bags of ROS 1 and ROS 2, which the writer of the package `rosbags` writes."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evsurf.data import formats
from evsurf.data.formats import FormatError
from tests.data.formats.recorded import EXPECTED, SIZE, P, T, X, Y, lists

pytest.importorskip("rosbags")

DEFINITIONS = {
    "dvs_msgs/msg/Event": "uint16 x\nuint16 y\ntime ts\nbool polarity\n",
    "dvs_msgs/msg/EventArray": "std_msgs/Header header\nuint32 height\nuint32 width\n"
    "dvs_msgs/Event[] events\n",
    "event_camera_msgs/msg/EventPacket": "std_msgs/Header header\nuint32 height\nuint32 width\n"
    "uint64 seq\nuint64 time_base\nstring encoding\nbool is_bigendian\nuint8[] events\n",
}


class Bag:
    """Writes bags of either generation."""

    def __init__(self, path: Path, *, ros2: bool) -> None:
        from rosbags.rosbag1 import Writer as Writer1
        from rosbags.rosbag2 import Writer as Writer2
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore

        self.ros2 = ros2
        self.store = get_typestore(Stores.ROS2_HUMBLE if ros2 else Stores.ROS1_NOETIC)
        for name, text in DEFINITIONS.items():
            stamp = "builtin_interfaces/Time" if ros2 else "time"
            self.store.register(get_types_from_msg(text.replace("time ts", f"{stamp} ts"), name))
        self.writer = Writer2(path, version=9) if ros2 else Writer1(path)
        self.writer.open()
        self.connections: dict[str, Any] = {}

    def __enter__(self) -> Bag:
        return self

    def __exit__(self, *_: object) -> None:
        self.writer.close()

    def header(self) -> Any:
        kinds = self.store.types
        extra = {} if self.ros2 else {"seq": 3}
        stamp = kinds["builtin_interfaces/msg/Time"](sec=1, nanosec=2)
        return kinds["std_msgs/msg/Header"](stamp=stamp, frame_id="eye", **extra)

    def add(self, topic: str, kind: str, **fields: Any) -> None:
        message = self.store.types[kind](header=self.header(), **fields)
        if topic not in self.connections:
            self.connections[topic] = self.writer.add_connection(topic, kind, typestore=self.store)
        pack = self.store.serialize_cdr if self.ros2 else self.store.serialize_ros1
        self.writer.write(self.connections[topic], 1, bytes(pack(message, kind)))

    def events(self, topic: str, start: int, stop: int, origin: int = 0) -> None:
        event = self.store.types["dvs_msgs/msg/Event"]
        time = self.store.types["builtin_interfaces/msg/Time"]
        events = [
            event(
                x=int(X[i]),
                y=int(Y[i]),
                ts=time(sec=origin + int(T[i]) // 10**6, nanosec=int(T[i]) % 10**6 * 1000),
                polarity=bool(P[i]),
            )
            for i in range(start, stop)
        ]
        self.add(topic, "dvs_msgs/msg/EventArray", height=SIZE[0], width=SIZE[1], events=events)

    def packet(self, topic: str, data: bytes, **fields: Any) -> None:
        chosen = {"seq": 0, "time_base": 0, "encoding": "evt3", "is_bigendian": False} | fields
        events = np.frombuffer(data, np.uint8)
        kind = "event_camera_msgs/msg/EventPacket"
        self.add(topic, kind, height=SIZE[0], width=SIZE[1], events=events, **chosen)


def evt3() -> bytes:
    words = []
    for x, y, t, p in zip(X.tolist(), Y.tolist(), T.tolist(), P.tolist(), strict=True):
        words += [0x8000 | t >> 12 & 0xFFF, 0x6000 | t & 0xFFF, y, 0x2000 | p << 11 | x]
    return np.array(words, "<u2").tobytes()


def mono(kind: str = "<u8") -> bytes:
    rows = zip(X.tolist(), Y.tolist(), T.tolist(), P.tolist(), strict=True)
    return np.array([p << 63 | y << 48 | x << 32 | 1000 * t for x, y, t, p in rows], kind).tobytes()


def libcaer(base: int = 0) -> bytes:
    pairs = [
        ((x << 17 | y << 2 | p << 1 | 1), (t + base) % 2**31)
        for x, y, t, p in zip(X.tolist(), Y.tolist(), T.tolist(), P.tolist(), strict=True)
    ]
    return np.array([*pairs, (0, 0)][: len(pairs)], "<u4").tobytes()


both = pytest.mark.parametrize("ros2", [False, True], ids=["ROS 1", "ROS 2"])


@both
def test_arrays_of_events_are_read(tmp_path, ros2):
    path = tmp_path / "a.bag"
    with Bag(path, ros2=ros2) as bag:
        bag.events("/dvs/events", 0, 3, origin=1_700_000_000)
        bag.events("/dvs/events", 3, 3)
        bag.events("/dvs/events", 3, 4, origin=1_700_000_000)
        bag.events("/dvs/events", 4, 6, origin=1_700_000_000)
    with formats.open_recording(path) as recording:
        assert recording.format == "bag"
        assert (recording.size, recording.size_source) == (SIZE, "header")
        assert recording.facts["time origin"] == "1970"
        events = recording.read()
    assert lists(events)[:2] == EXPECTED[:2]
    assert (events.t - 1_700_000_000_000_000).tolist() == T.tolist()
    assert lists(events)[3] == EXPECTED[3]


@both
@pytest.mark.parametrize(
    ("encoding", "data", "fields"),
    [
        ("evt3", evt3(), {}),
        ("evt3", np.frombuffer(evt3(), "<u2").byteswap().tobytes(), {"is_bigendian": True}),
        ("mono", mono(), {}),
        ("mono", mono(">u8"), {"is_bigendian": True}),
        ("libcaer", libcaer(), {}),
    ],
    ids=["evt3", "evt3 swapped", "mono", "mono swapped", "libcaer"],
)
def test_packets_are_decoded(tmp_path, ros2, encoding, data, fields):
    path = tmp_path / "a.bag"
    cut = {"evt3": 24, "mono": 16, "libcaer": 16}[encoding]
    with Bag(path, ros2=ros2) as bag:
        bag.packet("/events", data[:cut], encoding=encoding, **fields)
        bag.packet("/events", data[cut:], encoding=encoding, **fields)
    with formats.open_recording(path) as recording:
        assert lists(recording.read()) == EXPECTED
        assert recording.facts["encoding"] == encoding
        assert not recording.damage
        assert [len(chunk) for chunk in recording.chunks(4)] == [4, 2]


def test_stamps_begin_anew_within_a_packet(tmp_path):
    base = 2**31 - 1_000_000
    with Bag(tmp_path / "a.bag", ros2=False) as bag:
        bag.packet("/events", libcaer(base), encoding="libcaer", time_base=5000)
    assert formats.read(tmp_path / "a.bag").t.tolist() == (T + base + 5).tolist()


def test_files_of_a_bag_of_ros_2_stand_for_their_folder(tmp_path):
    with Bag(tmp_path / "a", ros2=True) as bag:
        bag.packet("/events", evt3())
    (file,) = (tmp_path / "a").glob("*.db3")
    assert lists(formats.read(file)) == EXPECTED


@both
def test_several_topics_are_named(tmp_path, ros2):
    with Bag(tmp_path / "a.bag", ros2=ros2) as bag:
        bag.events("/left", 0, 6)
        bag.packet("/right", evt3())
    with pytest.raises(FormatError, match="say stream= one of /left, /right"):
        formats.read(tmp_path / "a.bag")
    with pytest.raises(ValueError, match="'/up' is none of the bag's topics of events: /left"):
        formats.read(tmp_path / "a.bag", stream="/up")
    for topic in ("/left", "/right"):
        assert lists(formats.read(tmp_path / "a.bag", stream=topic)) == EXPECTED


def test_a_bag_without_events_says_what_it_holds(tmp_path):
    with Bag(tmp_path / "a.bag", ros2=False) as bag:
        kind = "std_msgs/msg/String"
        connection = bag.writer.add_connection("/hello", kind, typestore=bag.store)
        message = bag.store.types[kind](data="hello")
        bag.writer.write(connection, 1, bytes(bag.store.serialize_ros1(message, kind)))
    with pytest.raises(FormatError, match=r"it holds /hello \(std_msgs/msg/String\)"):
        formats.read(tmp_path / "a.bag")


def test_an_unknown_encoding_is_named(tmp_path):
    with Bag(tmp_path / "a.bag", ros2=False) as bag:
        bag.packet("/events", b"", encoding="evt9")
    with pytest.raises(FormatError, match="encoded as 'evt9'; known are evt3"):
        formats.read(tmp_path / "a.bag")


def test_a_bad_packet_is_skipped(tmp_path):
    with Bag(tmp_path / "a.bag", ros2=False) as bag:
        bag.packet("/events", mono()[:16], encoding="mono")
        bag.packet("/events", mono()[16:27], encoding="mono")
        bag.packet("/events", mono()[16:], encoding="mono")
    with pytest.warns(formats.DamageWarning, match="bad_packet: 1, first at event 2"):
        assert lists(formats.read(tmp_path / "a.bag")) == EXPECTED


@settings(max_examples=20)
@given(data=st.data())
def test_changed_bytes_raise_nothing_but_our_errors(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("changed") / "a.bag"
    with Bag(path, ros2=False) as bag:
        bag.events("/events", 0, 6)
    changed = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(changed)
    with warnings.catch_warnings(action="ignore"), contextlib.suppress(FormatError):
        formats.read(path, SIZE, format="bag")


def test_the_real_bag_has_the_events_that_it_should(shared_data):
    path = shared_data / "event_camera_py_bags" / "test_events_1.bag"
    with formats.open_recording(path) as recording:
        events = recording.read()
        assert recording.size == (480, 640)
        assert not recording.damage
    assert [int((~events.p).sum()), int(events.p.sum())] == [218_291, 125_183]
    assert round(int(events.t[-1] - events.t[0]) / 1e6, 2) == 2.08
