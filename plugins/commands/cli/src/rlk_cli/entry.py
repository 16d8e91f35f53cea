"""The console script `rlk`. It imports nothing before it can answer a Ctrl-C with a sentence."""

from __future__ import annotations


def main() -> None:
    """Call `rlk_cli.main.main`, which never returns.

    A Ctrl-C while that is imported ends the process as a later one does. After the command has
    ended, a Ctrl-C ends it by the signal: what Python and torch do at their exit would print a
    traceback.
    """
    try:
        from rlk_cli.main import main as run

        run()
    except KeyboardInterrupt:
        import sys

        print("Stopped by Ctrl-C.", file=sys.stderr)
        sys.exit(130)
    finally:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)
