"""Every code block of Stable Baselines' documentation runs with its imports changed.

The text of the documentation is not part of this repository:

    RLK_DOCUMENTATION=stable-baselines.txt pytest -m documentation plugins/shared/baselines
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documented_programs import Block, blocks

from rlk.errors import PlanError
from rlk_baselines.common.base_class import BaseRLModel

#: Code in a block that cannot run -> the reason.
LEFT_OUT = {
    "tf.Session": "TensorFlow's session",
    "tf.constant": "TensorFlow's graph",
    "tf.variable_scope": "TensorFlow's graph, as a policy; docs/custom-policies.md has it in torch",
    "tf.summary.merge_all": "TensorFlow's graph; test_learning.py has its numbers",
    "def __init__(self, arg1, arg2, ...)": "no Python: its author leaves three dots to the reader",
    "pkg_resources": "renames a module of Stable Baselines below 2.6, to load its files",
}
#: Code in a block -> the error that it raises according to the documentation.
RAISES = {
    "np.seterr(all='raise') # define before your code.\n\nprint(\"numpy test:": FloatingPointError,
    "numpy overflow test": FloatingPointError,
    "NanAndInfEnv": ValueError,
}
#: Definitions that the documentation leaves to its reader, or has in an earlier block.
BEFORE = """
import numpy as np
from rlk_baselines import A2C, gym
from rlk_baselines.common.policies import LstmPolicy

n_actions, N_BITS, arg1 = 2, 5, None


class CustomEnv(gym.Env):
    def __init__(self, *arguments):
        self.observation_space = gym.spaces.Box(0, 255, (36, 36, 1), np.uint8)
        self.action_space = gym.spaces.Discrete(2)

    def reset(self):
        self.steps = 0
        return self.observation_space.sample()

    def step(self, action):
        self.steps += 1
        return self.observation_space.sample(), 1.0, self.steps == 5, {}


YourEnv = CustomEnv
"""
FILES = """
import os
from rlk_baselines.bench import Monitor

A2C("MlpPolicy", "CartPole-v1").save("a2c_cartpole", cloudpickle=True)
os.makedirs("log")
env = Monitor(gym.make("CartPole-v1"), "log")
for _ in range(2):
    env.reset()
    while not env.step(env.action_space.sample())[2]:
        pass
"""

FOUND = os.environ.get("RLK_DOCUMENTATION")
BLOCKS = blocks(Path(FOUND).read_text()) if FOUND else []

pytestmark = pytest.mark.documentation


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documentation")


@pytest.fixture(scope="module")
def files(folder: Path) -> None:
    before = Path.cwd()
    os.chdir(folder)
    exec(BEFORE + FILES, {})
    os.chdir(before)


@pytest.fixture(autouse=True)
def _short(folder: Path, files: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Shorten trainings, and restore numpy's settings."""
    learn = BaseRLModel.learn

    def shortly(self: Any, total_timesteps: float, *arguments: Any, **keywords: Any) -> Any:
        return learn(self, min(int(total_timesteps), 300), *arguments, **keywords)

    monkeypatch.setattr(BaseRLModel, "learn", shortly)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with np.errstate():
        yield


def test_the_documentation_is_there() -> None:
    assert len(BLOCKS) >= 60, "name its text: RLK_DOCUMENTATION=FILE"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("block", BLOCKS, ids=[f"line-{block.line}" for block in BLOCKS])
def test_a_block_runs(block: Block) -> None:
    reasons = [reason for part, reason in LEFT_OUT.items() if part in block.text]
    if reasons:
        pytest.skip(reasons[0])
    program = compile(block.program, f"line {block.line}", "exec")
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(BEFORE, names)
    expected = [error for part, error in RAISES.items() if part in block.text]
    if expected:
        with pytest.raises(expected[0]):
            exec(program, names)
        return
    try:
        exec(program, names)
    except (PlanError, ModuleNotFoundError) as error:
        if "pip install" in str(error) or getattr(error, "name", "") == "imageio":
            pytest.skip(str(error))
        raise
