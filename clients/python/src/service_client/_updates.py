"""What an iteration over updates remembers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence

from .errors import ProblemError

#: How many event ids are remembered, by which repeated events are dropped.
REMEMBERED = 1000


@dataclass(frozen=True)
class Reset:
    """The log of the service was restored from a backup; events after ``kept_through`` are lost."""

    kept_through: int
    epoch: int
    cursor: str


class KnownEvents:
    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    def new(self, events: Sequence[Any]) -> list[Any]:
        return [event for event in events if event["id"] not in self._ids]

    def add(self, events: Sequence[Any]) -> None:
        for event in events:
            self._ids[event["id"]] = None
        while len(self._ids) > REMEMBERED:
            del self._ids[next(iter(self._ids))]

    def clear(self) -> None:
        self._ids.clear()


def to_reset(error: ProblemError) -> Optional[Reset]:
    if error.code != "cursor_reset":
        return None
    details = error.body.get("error", {})
    try:
        return Reset(details["kept_through"], details["epoch"], details["cursor"])
    except KeyError:
        return None
