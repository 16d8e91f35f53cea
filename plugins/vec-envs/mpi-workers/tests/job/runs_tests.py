"""A plugin: after the training of rank 0, it runs `on_ranks.py`, while the ranks still wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlk import hookimpl

HERE = Path(__file__).parent


@hookimpl
def rlk_training_end():
    alone = ["-q", "-n", "0", "-p", "no:cacheprovider", "--import-mode=importlib"]
    chosen = ["-k", "not hangs", f"--rootdir={HERE}", str(HERE / "on_ranks.py")]
    print(f"the tests on rank 0 ended with {int(pytest.main([*alone, *chosen]))}")
