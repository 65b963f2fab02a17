"""The command ``hushwire``, as ``python -m hushwire``."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command line of this process, and exit with its code."""
    from hushwire import _native

    # An interrupt ends the command as it ends the program `hushwire`.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    again = [sys.executable, "-m", "hushwire"]
    code = _native.command(["hushwire", *sys.argv[1:]], again)
    sys.stdout.flush()
    # The command's threads need no interpreter, which would wait for its own at its end.
    os._exit(code)


if __name__ == "__main__":
    main()
