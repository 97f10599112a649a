"""How Matrix-LSTM reads events: the features its cell is fed."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

TIMES = ("ts", "delay", "log_delay")
SCOPES = ("relative", "absolute", "fixed")
NORMALIZATIONS = ("range", "max")
POLARITIES = ("binary", "signed")


_USUAL_SCALES = {"ts": 100_000.0, "delay": 100_000.0, "log_delay": 1_000.0}


def scale_of(time: str, time_scale: float | None) -> float:
    """Microseconds that make 1: those given, or else the usual ones."""
    if time_scale is None:
        return _USUAL_SCALES.get(time, 1.0)
    if isinstance(time_scale, bool) or not isinstance(time_scale, Real):
        raise TypeError(f"time_scale must be a number of microseconds or None, not {time_scale!r}")
    return float(time_scale)


@dataclass(frozen=True)
class Reading:
    """The feature vector [polarity, global time, column, row, time], by its options."""

    time: str = "delay"
    """"ts", "delay" or "log_delay"."""
    scope: str = "relative"
    """Normalised within its sequence, "absolute": within its window, "fixed": by time_scale."""
    normalize: str = "range"
    """Times to [0, 1] by their "range", or divided by their "max"."""
    global_time: bool = False
    """Whether the time within the whole sample is a feature too."""
    coordinates: bool = False
    """Whether the place within the receptive field is a feature too."""
    polarity: str = "binary"
    """0 and 1, or "signed": -1 and 1."""
    time_scale: float = 1.0
    """Microseconds that make 1, for log delays and fixed scope."""

    def __post_init__(self) -> None:
        _check_choice("time", self.time, TIMES)
        _check_choice("scope", self.scope, SCOPES)
        _check_choice("normalize", self.normalize, NORMALIZATIONS)
        _check_choice("polarity", self.polarity, POLARITIES)
        if self.time != "ts" and self.scope == "absolute":
            raise ValueError(
                f'scope="absolute" needs time="ts"; a {self.time} belongs to one sequence, '
                'so its scope is "relative" or "fixed"'
            )
        if not 0 < self.time_scale < float("inf"):
            raise ValueError(
                f"time_scale must be a positive number of microseconds, not {self.time_scale!r}"
            )

    @property
    def features(self) -> int:
        """Length of the feature vector."""
        return 2 + int(self.global_time) + 2 * int(self.coordinates)

    @property
    def fixed_scale(self) -> bool:
        """Whether times are divided by time_scale, which needs no later event to be known."""
        return self.scope == "fixed" or self.time == "log_delay"

    def numbers(self) -> list[int]:
        """The options as the ops take them; time_scale travels beside."""
        return [
            TIMES.index(self.time),
            SCOPES.index(self.scope),
            NORMALIZATIONS.index(self.normalize),
            int(self.global_time),
            int(self.coordinates),
            POLARITIES.index(self.polarity),
        ]

    @staticmethod
    def from_numbers(numbers: list[int], time_scale: float) -> Reading:
        """The reading that `numbers()` came from."""
        time, scope, normalize, global_time, coordinates, polarity = numbers
        return Reading(
            TIMES[time],
            SCOPES[scope],
            NORMALIZATIONS[normalize],
            bool(global_time),
            bool(coordinates),
            POLARITIES[polarity],
            time_scale,
        )


def _check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        choices = ", ".join(f'"{choice}"' for choice in allowed)
        raise ValueError(f"{name} must be one of {choices}, not {value!r}")
