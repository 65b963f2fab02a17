"""The error of a computation that cannot be written down."""

from __future__ import annotations


class ComputationError(TypeError):
    """A computation that does not exist, found while a function is traced: before any run.

    `cause` says what is wrong, `remedy` what to write instead.
    """

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(f"{cause}; {remedy}")
        self.cause = cause
        self.remedy = remedy
