"""The example of the README, with fewer episodes and timesteps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.M | re.S)
    for printed, shorter in (("n_episodes=20", "n_episodes=2"), ("10_000", "5")):
        assert printed in code
        code = code.replace(printed, shorter)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(code, README.name, "exec"), names)
    with names["agent"] as agent:
        assert len(agent.run.storage) == 2 * 200 + 5
