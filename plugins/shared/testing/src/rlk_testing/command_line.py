"""The command line as a user types it, in this process."""

from __future__ import annotations

import pytest

from rlk_cli.main import main


def ended(*arguments: object) -> int:
    """The exit code of `rlk ARGUMENTS`; what it prints is left to `capsys`."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(str(end.value.code))
