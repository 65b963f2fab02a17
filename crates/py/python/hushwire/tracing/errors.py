"""The error of a computation that cannot be written down."""

from __future__ import annotations

from ..errors import UsageError


class ComputationError(UsageError, TypeError):
    """A computation that does not exist, found while a function is traced: before any run.

    `cause` says what is wrong, `remedy` what to write instead. It is a TypeError, too, since it is
    about what kinds of values there are.
    """

    def __init__(
        self, cause: str, remedy: str, *, step: str = "tracing the computation", **more: str | None
    ) -> None:
        super().__init__(cause=cause, remedy=remedy, step=step, **more)
