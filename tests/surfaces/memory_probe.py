"""Run as a program: the memory that Matrix-LSTM surfaces take, in bytes, as JSON.

    memory_probe.py EVENTS EVENTS_ON_ONE_PIXEL

A process of its own, because only there nobody else allocates. Linux alone tells and resets a
process's largest size.
"""

import gc
import json
import sys
from pathlib import Path

import torch

import evsurf as es

SIZE = (720, 1280)
HIDDEN = 4


def status(name: str) -> int:
    """A size from the process's status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    raise LookupError(name)


def events_with_a_hot_pixel(count: int, hot: int) -> es.EventBatch:
    """Events spread evenly over a sensor, some of them moved to one pixel."""
    number = torch.arange(count)
    place = (number * 7919) % (SIZE[0] * SIZE[1])
    if hot:
        place[number % (count // hot) == 0] = 9 * SIZE[1] + 7
    x, y = (place % SIZE[1]).short(), (place // SIZE[1]).short()
    return es.EventBatch(x, y, number, number % 3 == 0, torch.tensor([0, count]), SIZE)


def measure(layer: es.MatrixLSTM, batch: es.EventBatch, backward: bool) -> dict[str, int]:
    gc.collect()
    before = status("VmRSS")
    # Five is the kernel's word for: forget the largest size so far.
    Path("/proc/self/clear_refs").write_text("5")
    with torch.set_grad_enabled(backward):
        image = layer(batch)
    if backward:
        image.backward(torch.ones_like(image))
    added = status("VmHWM") - before
    # The gradient of the image is the caller's, as the image is.
    images = image.nbytes * (2 if backward else 1)
    inputs = sum(getattr(batch, name).nbytes for name in batch.FIELDS)
    return {"extra": added - images, "whole": added + inputs}


def main(count: int, hot: int) -> None:
    torch.set_num_threads(2)
    layer = es.MatrixLSTM(HIDDEN)
    # Threads, code and caches are there once, however many events follow.
    measure(layer, events_with_a_hot_pixel(5000, 0), backward=True)
    measured = {}
    for kind, on_one_pixel in (("even", 0), ("hot", hot)):
        batch = events_with_a_hot_pixel(count, on_one_pixel)
        for name, backward in (("forward", False), ("both", True)):
            measured[f"{kind} {name}"] = measure(layer, batch, backward)
        del batch
    sys.stdout.write(json.dumps(measured))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
