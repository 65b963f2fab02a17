"""Messages of the library and of the command, as records of the logger ``hushwire``."""

from __future__ import annotations

import json
import logging

_LOGGER = logging.getLogger("hushwire")

#: The levels of the library's events. A note is for the person who waits for the run.
_EVENTS = {"note": logging.INFO, "phase": logging.DEBUG, "connected": logging.DEBUG}

#: Levels of the command's lines, as the crate tracing names them.
_LEVELS = {
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": logging.DEBUG - 5,
}


def event(what: str, kind: str, text: str) -> None:
    """Log an event of a run; ``what`` names the run. Progress is not logged."""
    level = _EVENTS.get(kind)
    if level is not None and _LOGGER.isEnabledFor(level):
        _LOGGER.getChild("run").log(level, "%s: %s", what, text or kind, extra={"run": what, "event": kind})


def lines(text: str) -> None:
    """Log lines that the command writes with ``--log-format json``.

    >>> lines('{"level": "INFO", "message": "it begins"}')
    """
    for line in text.splitlines():
        try:
            record = json.loads(line)
            level, message = _LEVELS[record.pop("level")], record.pop("message")
        except (ValueError, KeyError, AttributeError, TypeError):
            continue
        # The prefix keeps these fields apart from the attributes that every record has.
        fields = {f"hushwire_{name}": value for name, value in record.items()}
        _LOGGER.getChild("command").log(level, "%s", message, extra=fields)
