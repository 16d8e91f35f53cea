"""Runs the command line in this process."""

from __future__ import annotations

import pytest

from rlk_cli.main import main


def ended(*arguments: object) -> int:
    """Run `rlk ARGUMENTS` and return its exit code; `capsys` has what it prints."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(str(end.value.code))
