"""The exceptions of the package. No text of an exception holds a value of an input."""

from __future__ import annotations

from typing import Any

__all__ = [
    "Cancelled",
    "FileError",
    "InternalError",
    "NetworkError",
    "PartyError",
    "Refused",
    "UsageError",
]


class PartyError(Exception):
    """A member failed during a step.

    The subclasses are the kinds of failures: :class:`UsageError`, :class:`FileError`,
    :class:`NetworkError`, :class:`Refused`, :class:`Cancelled` and :class:`InternalError`.

    >>> import hushwire as hw
    >>> try:
    ...     hw.Computation("computation c\\nmembers a\\noutput y = x to a")
    ... except hw.PartyError as e:
    ...     print(type(e).__name__, "|", e.step, "|", e.code)
    UsageError | reading the computation, line 3, column 12 | HW0502
    """

    #: The member that failed, as ``party 0`` or ``client alice``; None if it is the caller.
    party: str | None
    #: The step that was under way.
    step: str
    #: The reason of the failure.
    cause: str
    #: The remedy.
    remedy: str
    #: The stable code: ``hushwire explain CODE`` and docs/troubleshooting.md say more.
    code: str | None

    def __init__(
        self,
        *,
        party: str | None = None,
        step: str = "",
        cause: str = "",
        remedy: str = "",
        code: str | None = None,
    ) -> None:
        # The constructor of OSError would take the step for an error number.
        Exception.__init__(self, party, step, cause, remedy, code)
        self.party = party
        self.step = step
        self.cause = cause
        self.remedy = remedy
        self.code = code

    def __str__(self) -> str:
        before = [text for text in (self.party, self.step) if text]
        after = [text for text in (self.cause, self.remedy) if text]
        text = ": ".join([*before, "; ".join(after)])
        return f"{text} [{self.code}]" if self.code else text

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self.party, self.step, self.cause, self.remedy, self.code)


class UsageError(PartyError, ValueError):
    """A request that makes no sense."""


class FileError(PartyError, OSError):
    """A file that cannot be used."""


class NetworkError(PartyError, ConnectionError):
    """A party, a peer or the network failed."""


class Refused(PartyError, PermissionError):
    """A request that would be unsafe, or that is not allowed."""


class Cancelled(PartyError):
    """The run was cancelled."""


class InternalError(PartyError, RuntimeError):
    """A bug in Hushwire."""


#: Exceptions by the kinds of faults that the command reports.
KINDS: dict[str, type[PartyError]] = {
    "usage": UsageError,
    "file": FileError,
    "network": NetworkError,
    "refused": Refused,
    "internal": InternalError,
}


def _made(
    kind: type[PartyError],
    party: str | None,
    step: str,
    cause: str,
    remedy: str,
    code: str | None,
) -> PartyError:
    return kind(party=party, step=step, cause=cause, remedy=remedy, code=code)
