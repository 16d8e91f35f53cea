"""Runs the command line in this process."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TypeAlias

import attrs
import pytest

from rlk_cli.main import main


@attrs.frozen
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    def commands(self) -> list[list[str]]:
        """The commands of rlk that the output says to type, as words."""
        typed = (line[line.find("rlk ") :] for line in self.out.splitlines() if "rlk " in line)
        return [shlex.split(line)[1:] for line in typed if not line.startswith("rlk.")]


#: Runs `rlk ARGUMENTS`, as the fixture `rlk_typed` does.
Terminal: TypeAlias = Callable[..., Ended]


def ended(*arguments: object) -> int:
    """Run `rlk ARGUMENTS` and return its exit code; `capsys` has what it prints."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(str(end.value.code))
