"""The command ``hushwire``, as ``python -m hushwire``."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command line of this process, and exit with its code."""
    from hushwire import _native

    # An interrupt ends this process in the same way as the program `hushwire`.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    again = [sys.executable, "-m", "hushwire"]
    code = _native.command(["hushwire", *sys.argv[1:]], again)
    sys.stdout.flush()
    # The interpreter would wait at its end for threads. Threads of the command do not need it.
    os._exit(code)


if __name__ == "__main__":
    main()
