"""Open files that a data set keeps, one for each process that reads from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar, final

Thing = TypeVar("Thing")


@final
class PerProcess(Generic[Thing]):
    """Opens something when it is first asked for, and anew in every worker of a loader.

    Two processes that read through one open file move each other's place in it.
    """

    def __init__(self, open_it: Callable[[], Thing]) -> None:
        self._open_it = open_it
        self._process = -1
        self._thing: Thing | None = None

    def get(self) -> Thing:
        """What is open in this process."""
        if self._thing is None or self._process != os.getpid():
            self._thing, self._process = self._open_it(), os.getpid()
        return self._thing

    def __reduce__(self) -> tuple[type[PerProcess[Thing]], tuple[Callable[[], Thing]]]:
        return type(self), (self._open_it,)
