"""Times are taken in turns, after warm-up, and told with their spread."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from evsurf.bench import measure as measuring
from evsurf.bench.measure import Timing, measure


class Clock:
    """Time that passes in calls alone, and the order of these."""

    def __init__(self) -> None:
        self.now = 0.0
        self.called: list[str] = []

    def call(self, name: str, *seconds: float) -> Callable[[], None]:
        """One that takes these times, one after the other, and the last one from then on."""
        left = list(seconds)

        def call() -> None:
            self.called.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return call


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(measuring, "time", SimpleNamespace(perf_counter=lambda: made.now))
    return made


def test_the_spread_of_a_worked_example():
    timing = Timing(((5.0, 1.0), (4.0, 2.0, 3.0)))
    assert timing.seconds == [1, 2, 3, 4, 5]
    assert timing.median == 3
    assert timing.quartiles == (2, 4)
    assert timing.summary() == {
        "median_s": 3, "min_s": 1, "p25_s": 2, "p75_s": 4, "max_s": 5,
        "repeats": 5, "round_medians_s": [3, 3],
    }  # fmt: skip


def test_quartiles_lie_between_two_repeats_in_proportion():
    assert Timing(((4.0, 0.0),)).quartiles == (1, 3)
    assert Timing(((0.0, 8.0), (4.0, 12.0))).quartiles == (3, 9)


def test_a_single_repeat_is_median_and_quartiles():
    timing = Timing(((2.5,),))
    assert (timing.median, *timing.quartiles) == (2.5, 2.5, 2.5)


def test_calls_take_turns_after_a_warm_up(clock):
    calls = {"a": clock.call("a", 0.25), "b": clock.call("b", 0.5)}
    timings = measure(calls, repeats=2, seconds=10.0)
    warm_up, rounds = ["a", "b"], 2 * ["a", "b", "a", "b"]
    assert clock.called == warm_up + rounds
    assert timings["a"].rounds == ((0.25, 0.25), (0.25, 0.25))
    assert timings["b"].rounds == ((0.5, 0.5), (0.5, 0.5))


def test_the_warm_up_is_not_reported(clock):
    timings = measure({"a": clock.call("a", 100.0, 0.25)}, repeats=3, seconds=1.0, rounds=1)
    assert timings["a"].rounds == ((0.25, 0.25, 0.25),)


def test_a_short_call_runs_unmeasured_before_each_repeat(clock):
    """Another one's turn has filled the caches with other things."""
    cold, warm = 1 / 32, 1 / 64
    calls = {
        "short": clock.call("short", cold, *(2 * [cold, warm])),
        "long": clock.call("long", 0.25),
    }
    timings = measure(calls, repeats=2, seconds=10.0, rounds=1)
    assert clock.called == ["short", "long"] + 2 * ["short", "short", "long"]
    assert timings["long"].rounds == ((0.25, 0.25),)
    assert timings["short"].rounds == ((warm, warm),)


def test_a_slow_call_is_repeated_for_no_longer_than_the_seconds(clock):
    calls = {"slow": clock.call("slow", 3.0), "quick": clock.call("quick", 0.5)}
    timings = measure(calls, repeats=10, seconds=7.0, rounds=1)
    assert timings["slow"].rounds == ((3.0, 3.0),)
    assert timings["quick"].rounds == (10 * (0.5,),)


def test_a_call_longer_than_the_seconds_is_measured_once_a_round(clock):
    timings = measure({"a": clock.call("a", 3.0)}, repeats=10, seconds=0.0, rounds=3)
    assert timings["a"].rounds == ((3.0,), (3.0,), (3.0,))


def test_a_long_interruption_costs_the_rest_of_its_round_alone(clock):
    call = clock.call("a", 0.25, 0.25, 50.0, 0.25)
    timings = measure({"a": call}, repeats=3, seconds=2.0)
    assert timings["a"].rounds == ((0.25, 50.0), (0.25, 0.25, 0.25))


def test_a_device_is_waited_for_before_and_after_each_call(clock):
    """What a call only asks for takes its time when somebody waits."""
    asked = [5.0]

    def ask() -> None:
        asked.append(0.25)

    def wait() -> None:
        clock.now += sum(asked)
        asked.clear()

    timings = measure({"a": ask}, repeats=2, seconds=1.0, rounds=1, synchronize=wait)
    assert timings["a"].rounds == ((0.25, 0.25),)


def test_nothing_to_measure_gives_nothing():
    assert measure({}, repeats=1, seconds=1.0) == {}


def test_the_real_clock_runs():
    timing = measure({"a": lambda: sum(range(1000))}, repeats=3, seconds=1.0)["a"]
    assert [len(each) for each in timing.rounds] == [3, 3]
    assert 0 < timing.seconds[0] <= timing.median <= timing.seconds[-1]


@pytest.mark.parametrize("wrong", [{"repeats": 0}, {"rounds": 0}, {"repeats": -1}])
def test_less_than_one_repeat_or_round_is_refused(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{name} = {value} .*must be at least 1"):
        measure({}, **({"repeats": 1, "seconds": 1.0} | wrong))
