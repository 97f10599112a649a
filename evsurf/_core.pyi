"""The compiled core. Arrays are addresses of contiguous memory, 0 for none; callers check them."""

from torch import Tensor

EventAddresses = tuple[int, int, int, int, int]
Four = tuple[int, int, int, int]

largest_hidden: int
decoder_slack: int

class EventDecoder:
    def __init__(
        self, layout: str, height: int, width: int, keep_unsorted: bool, position: int, /
    ) -> None: ...
    def decode(self, data: int, length: int, xytp: Four, capacity: int, /) -> tuple[int, int]: ...
    def finish(self) -> None: ...
    def most_events(self, data: int, length: int, /) -> int: ...
    def take_findings(self) -> list[tuple[str, int, int]]: ...
    def state(self) -> bytes: ...
    def restore(self, state: bytes, /) -> None: ...
    @property
    def position(self) -> int: ...
    @property
    def latest(self) -> int: ...
    @property
    def triggers(self) -> int: ...

longest_line: int

def large_memory(size: int) -> Tensor: ...
def isa() -> str: ...
def ecf_decode(chunk: int, size: int, capacity: int, columns: Four) -> int: ...
def choose_isa(name: str) -> bool: ...
def group(
    events: EventAddresses,
    samples: int,
    count: int,
    field: list[int],
    most: int,
    latest: bool,
    threads: int,
    order: int,
    offsets: int,
    cell: int,
) -> tuple[int, int]: ...
def ragged_forward_float(
    sequences_in: Four,
    sequences: int,
    events: int,
    weights: Four,
    hidden: int,
    features: int,
    threads: int,
    every_h: int,
    h: int,
    c: int,
) -> None: ...

ragged_forward_double = ragged_forward_float

def ragged_backward_float(
    sequences_in: Four,
    sequences: int,
    events: int,
    weights: Four,
    hidden: int,
    features: int,
    threads: int,
    gradients: tuple[int, int, int, int, int, int, int, int, int],
) -> None: ...

ragged_backward_double = ragged_backward_float

def surface_forward_float(
    events: EventAddresses,
    samples: int,
    count: int,
    field: list[int],
    bins: int,
    most: int,
    latest: bool,
    reading: list[int],
    time_scale: float,
    weights: Four,
    hidden: int,
    threads: int,
    surface: int,
) -> None: ...

surface_forward_double = surface_forward_float

def surface_backward_float(
    events: EventAddresses,
    samples: int,
    count: int,
    field: list[int],
    bins: int,
    most: int,
    latest: bool,
    reading: list[int],
    time_scale: float,
    weights: Four,
    hidden: int,
    threads: int,
    d_surface: int,
    gradients: tuple[int, int, int],
) -> None: ...

surface_backward_double = surface_backward_float

def live_step_float(
    events: EventAddresses,
    samples: int,
    count: int,
    field: list[int],
    reading: list[int],
    time_scale: float,
    weights: Four,
    hidden: int,
    threads: int,
    memory: tuple[int, int, int, int, int],
) -> None: ...

live_step_double = live_step_float

class Camera:
    """Intensities are [height, width] floats; exact times float64 microseconds, or 0 for none."""

    def __init__(
        self,
        height: int,
        width: int,
        numbers: tuple[float, float, float, float, float, float, float, float],
        hold: bool,
        settled: bool,
        hot_pixels: int,
        hot_hz: tuple[float, float],
        seed: int,
    ) -> None: ...
    def start(self, intensity: int, t: float) -> None: ...
    def step(self, intensity: int, t: float, threads: int) -> int: ...
    def take(self, x: int, y: int, t: int, p: int, exact_t: int) -> None: ...
    def state(self, reference: int, light: int, on: int, off: int) -> None: ...

rectangle_bytes: int

def render(
    shape: tuple[int, int, int],
    numbers: list[float],
    rectangles: int,
    count: int,
    textures: list[tuple[int, int, int, int]],
    threads: int,
    intensity: int,
    depth: int,
    seen: int,
) -> None: ...
def text_to_events(
    text: int,
    length: int,
    last: bool,
    layout: tuple[int, int, int, int, int, int],
    capacity: int,
    columns: Four,
) -> tuple[int, int, int, int, int, int]: ...
def events_to_text(columns: Four, events: int, seconds: bool, text: int) -> int: ...
def keep_supported(
    events: tuple[int, int, int, int],
    samples: int,
    size: tuple[int, int],
    radius: int,
    duration: int,
    anew: bool,
    last: int,
    keep: int,
) -> None: ...
def keep_rested(
    events: tuple[int, int, int, int],
    samples: int,
    size: tuple[int, int],
    period: int,
    anew: bool,
    last: int,
    keep: int,
) -> None: ...
