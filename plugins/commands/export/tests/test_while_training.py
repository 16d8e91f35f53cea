"""A callback exports the policy of the run that it is given."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from shown_spaces import metadata_of_onnx, run_onnx

import rlk
import rlk_export
from rlk.errors import RlkError
from rlk_export import export

README = Path(__file__).resolve().parents[1] / "README.md"
SETTINGS = {"env": "CartPole-v1", "n_steps": 16, "nminibatches": 1, "policy": {"layers": [4]}}


@pytest.fixture
def exports_the_best():
    """The class in the README."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (code,) = [block for block in blocks if block.startswith("class ExportsTheBest")]
    names = {"rlk": rlk, "export": export}
    exec(code, names)
    return names["ExportsTheBest"]()


def test_the_example_of_the_readme_exports_at_every_new_best_evaluation(
    agent_of, exports_the_best, tmp_path
):
    means, written = iter([3.0, 2.0, 4.0]), []

    class Evaluates:
        @rlk.hookimpl
        def rlk_update_end(self, run):
            run.notify("rlk_evaluation_end", result=SimpleNamespace(mean_return=next(means)))
            found = metadata_of_onnx(run.out / "best_model.onnx")
            written.append(int(found["timesteps"]))

    plugins = [Evaluates(), exports_the_best, "no:table"]
    agent = agent_of("ppo2", learn=48, plugins=plugins, out=str(tmp_path / "run"), **SETTINGS)
    assert written == [16, 16, 48]
    observation = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    found = run_onnx(tmp_path / "run" / "best_model.onnx", {"observation": observation})
    assert found["action"].tolist() == agent.predict(observation, deterministic=True)[0].tolist()


class Exports:
    """Exports after every iteration."""

    def __init__(self, path):
        self.path = path

    @rlk.hookimpl
    def rlk_update_end(self, run):
        export(run, self.path)


def test_training_is_bit_equal_with_exports_and_without(agent_of, tmp_path):
    parameters = [
        agent_of("ppo2", learn=48, plugins=plugins, **SETTINGS).run.parameters.flat
        for plugins in ([], [Exports(tmp_path / "policy.pt2")])
    ]
    assert torch.equal(*parameters)


def test_a_full_disk_does_not_end_the_training(agent_of, tmp_path, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(rlk_export.exporting, "replacing", full)
    agent, path = agent_of("ppo2", **SETTINGS), tmp_path / "policy.pt2"
    with pytest.raises(RlkError, match=r"not everything could be written:\n.* no space left"):
        agent.learn(32, callback=Exports(path))
    assert agent.num_timesteps == 32
    with pytest.raises(RlkError, match="could not be written: no space left"):
        export(agent, path)
