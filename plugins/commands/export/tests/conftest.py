"""The path to what several files of tests import, and agents for them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True, scope="session")
def operators_read_once() -> Iterator[None]:
    """For every export, torch reads the code of all operators of ONNX again: once is enough."""
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    read = vars(ONNXRegistry)["from_torchlib"].__func__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ONNXRegistry, "from_torchlib", classmethod(functools.cache(read)))
        yield


@pytest.fixture
def agent_of(rlk_make: Callable[..., Any]) -> Callable[..., Any]:
    """`rlk.make` with a fixed seed and one thread; `learn=` trains so many timesteps."""

    def made(algo: str, learn: int = 0, **settings: Any) -> Any:
        agent = rlk_make(algo, seed=3, **settings)
        if learn:
            agent.learn(learn)
        return agent

    return made
