"""Progress of runs, for people and for programs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple, Union

from hushwire import _logs

__all__ = ["Progress", "ProgressLike"]


class Progress(NamedTuple):
    """An event of a run: ``kind`` is ``"connected"``, ``"phase"``, ``"progress"`` or ``"note"``."""

    #: The kind of event.
    kind: str
    #: The text of the phase or note.
    text: str
    #: The number of steps that are done, in an event ``"progress"``.
    done: int
    #: The number of all steps.
    total: int


#: True for a bar by tqdm, a function that takes :class:`Progress`, or None.
ProgressLike = Union[bool, Callable[[Progress], object], None]


class _Bar:
    """A bar by tqdm, in terminals and notebooks."""

    def __init__(self, what: str) -> None:
        try:
            tqdm = importlib.import_module("tqdm.auto").tqdm
        except ImportError:
            from hushwire.errors import UsageError

            raise UsageError(
                step="showing progress",
                cause="a progress bar needs tqdm, which is not installed",
                remedy="pip install tqdm, or give a function",
            ) from None
        self._bar: Any = tqdm(desc=what, unit=" steps", leave=False)

    def __call__(self, event: Progress) -> None:
        if event.kind == "progress":
            self._bar.total = event.total
            self._bar.update(event.done - self._bar.n)
        elif event.kind == "phase":
            self._bar.set_postfix_str(event.text)

    def close(self) -> None:
        self._bar.close()


class Telling:
    """A context manager that the native module calls with the events of a run."""

    def __init__(self, progress: ProgressLike, what: str) -> None:
        self._what = what
        self._bar = _Bar(what) if progress is True else None
        self._tell: Callable[[Progress], object] | None
        self._tell = self._bar or (progress if callable(progress) else None)

    def __enter__(self) -> Callable[[str, str, int, int], None]:
        return self._heard

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _heard(self, kind: str, text: str, done: int, total: int) -> None:
        if kind != "progress":
            _logs.event(self._what, kind, text)
        if self._tell is not None:
            self._tell(Progress(kind, text, done, total))
