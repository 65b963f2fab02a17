"""The error of a computation that cannot be expressed."""

from __future__ import annotations

from ..errors import UsageError


class ComputationError(UsageError, TypeError):
    """A computation that is impossible. The error is found while a function is traced, before any run.

    `cause` says what is wrong, and `remedy` what to write instead. It is also a TypeError, because it
    is about the types of values.
    """

    def __init__(
        self, cause: str, remedy: str, *, step: str = "tracing the computation", **more: str | None
    ) -> None:
        super().__init__(cause=cause, remedy=remedy, step=step, **more)
