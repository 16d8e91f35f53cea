"""A run on a GPU that is resumed ends, bit for bit, like one that was not interrupted."""

from __future__ import annotations

import pytest
import torch
from gpu.conftest import DEVICE
from resume.runs import INSTALLED, N, differences, state
from resume.test_exact import CASES

from rlk_testing.tools.command_line import ended

pytestmark = pytest.mark.gpu


def rlk(*arguments):
    with torch.random.fork_rng():
        assert ended(*arguments, "--quiet") == 0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_resumed_run_ends_as_the_uninterrupted_one(case, tmp_path):
    if not case.is_installed:
        pytest.skip(f"not installed: {sorted({case.algo, *case.needs} - INSTALLED)}")
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    rlk(*case.arguments(whole), "--device", DEVICE)
    again = case.resumed(resumed)[2:]
    rlk("resume", whole / "checkpoints" / f"{N}.zip", "--out", resumed, *again)
    one, other, before = state(whole, 2 * N), state(resumed, 2 * N), state(whole, N)
    for each in (one, other, before):
        del each["manifest"]
    assert differences(one, other) == []
    assert "parameters" in {path.split("/")[1] for path in differences(one, before)}
