"""What is in a file, and what is refused: never is there a file that acts otherwise."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from gymnasium import spaces
from shown_spaces import KEYS, Shows, loaded_pt2, metadata_of_onnx, metadata_of_pt2, shown
from torch import nn

from rlk.documents import parse_json
from rlk.errors import RlkError
from rlk.hookspecs import hookimpl
from rlk.records import Act
from rlk_export import export
from rlk_export.exporting import check_out
from rlk_export.signature import Signature, in_words, metadata
from rlk_networks import Linear

SMALL = {"policy": {"layers": [4]}}


class Encoder(nn.Module):
    """Numbers to four features, with something about it that a program cannot have."""

    def __init__(self, space: Any) -> None:
        super().__init__()
        self.layer, self.calls = Linear(int(np.prod(space.shape)), 4), 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


class Branches(Encoder):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) if bool(x.sum() > 0) else self.layer(-x)


class Measures(Encoder):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x).view(len(x), 2, 2).flatten(1)


class Counts(Encoder):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.layer(x) * (1.0 if self.calls % 2 else -1.0)


class NotInOnnx(Encoder):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.special.bessel_j0(self.layer(x))


def with_encoder(agent_of: Any, encoder: Any) -> Any:
    box = spaces.Box(-1.0, 1.0, (2,), np.float32)
    return agent_of("td3", env=Shows(action=box), policy={"encoder": encoder, "layers": [4]})


def test_a_file_says_what_goes_in_and_what_comes_out(agent_of, tmp_path):
    agent = agent_of("ppo2", env=Shows(KEYS), policy="multi-input-lstm", nminibatches=1)
    exported = export(agent, tmp_path / "policy.pt2")
    found = metadata_of_pt2(exported.path)
    assert found == exported.metadata
    assert found["algorithm"] == "ppo2" and found["policy"] == "multi-input-lstm"
    assert found["timesteps"] == "0" and "Shows" in found["environment"]
    assert found["action_space"] == "a whole number from 1 to 3"
    assert "room: a whole number from 2 to 5" in found["observation_space"]
    inputs = json.loads(found["inputs"])
    assert [(one["name"], one["key"]) for one in inputs] == [
        ("observation_a_b", "a b"),
        ("observation_eye", "eye"),
        ("observation_room", "room"),
        ("state", None),
        ("episode_start", None),
    ]
    assert inputs[0]["shape"] == ["batch", 3] and inputs[1]["dtype"] == "uint8"
    assert inputs[0]["meaning"] == "3 numbers from -2 to 2"
    assert inputs[1]["meaning"] == "an image, numbers from 0 to 255"
    outputs = json.loads(found["outputs"])
    assert [(one["name"], one["dtype"]) for one in outputs] == [
        ("action", "int64"),
        ("next_state", "float32"),
    ]


def test_infinite_settings_of_wrappers_are_words_as_in_a_plan(agent_of, tmp_path):
    agent = agent_of("a2c", env="CartPole-v1", plugins=["normalize:clip_obs=inf"])
    written = metadata(agent.run, Signature((), ()))["wrappers"]
    assert parse_json(written)[-1]["settings"]["clip_obs"] == "inf"


def test_an_onnx_says_the_same_and_is_compared_without_onnxruntime(agent_of, tmp_path, monkeypatch):
    missing(monkeypatch, "onnxruntime")
    agent = agent_of("dqn", env=Shows(), plugins=["frame-stack:n_stack=2"], **SMALL)
    exported = export(agent, tmp_path / "deep" / "policy.onnx")
    assert exported.evaluator == "onnx's reference evaluator"
    found = metadata_of_onnx(exported.path)
    assert found == exported.metadata
    (wrapper,) = json.loads(found["wrappers"])
    assert wrapper["name"] == "frame-stack" and wrapper["settings"]["n_stack"] == 2
    model = onnx.load(exported.path)
    onnx.checker.check_model(model, full_check=True)
    (given,), (action,) = model.graph.input, model.graph.output
    assert (given.name, action.name) == ("observation", "action")
    axes = given.type.tensor_type.shape.dim
    assert [axes[0].dim_param, axes[1].dim_value] == ["batch", 6]


def test_spaces_are_in_words():
    low, high = np.array([-1.5, -np.inf], np.float32), np.array([0.1, np.inf], np.float32)
    assert in_words(spaces.Box(low, high)) == "2 numbers from -1.5 to 0.1, -inf to inf"
    low = np.arange(-40.0, 0.0, dtype=np.float32)
    many = spaces.Box(low, np.float32(1.0) - low)
    assert in_words(many) == "40 numbers from -40 to 41, not all alike"
    choices = spaces.MultiDiscrete([2, 3], start=[0, -1])
    assert in_words(choices) == "2 whole numbers from 0 to 1, -1 to 1"
    assert in_words(spaces.MultiBinary(3)) == "3 switches, 0 or 1"


def test_critics_are_not_written(agent_of, tmp_path):
    box = spaces.Box(-1.0, 1.0, (2,), np.float32)
    sizes = []
    for qf in (4, 400):
        layers = {"net_arch": {"pi": [4], "qf": [qf, qf]}}
        agent = agent_of("td3", env=Shows(action=box), policy=layers)
        sizes.append(export(agent, tmp_path / f"{qf}.pt2").path.stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 2000


def test_exporting_leaves_the_agent_as_it_was(agent_of, tmp_path):
    parameters = []
    for exports in (False, True):
        agent = agent_of("ppo2", env="CartPole-v1", n_steps=16, **SMALL)
        agent.learn(32)
        if exports:
            export(agent, tmp_path / "policy.pt2")
        agent.learn(32, reset_num_timesteps=False)
        parameters.append(agent.run.parameters.flat.clone())
    assert torch.equal(*parameters)


def exported_space() -> Any:
    return Shows().observation_space


def missing(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """These packages are not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name in names else find(name, *rest),
    )


@pytest.mark.parametrize("name", ["policy.pth", "policy", "policy.onnx.zip"])
def test_another_suffix_is_refused_with_the_two(name):
    with pytest.raises(RlkError, match=r"'FILE\.onnx' or 'FILE\.pt2', and not"):
        check_out(Path(name))


def test_a_missing_package_is_named_with_what_to_type(monkeypatch):
    missing(monkeypatch, "onnx", "onnxscript")
    with pytest.raises(RlkError, match=r"onnx and onnxscript\. Type: pip install 'rlk-export\[onn"):
        check_out(Path("policy.onnx"))
    check_out(Path("policy.pt2"))


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "policy.pt2").mkdir()
    with pytest.raises(RlkError, match="it is not a regular file"):
        check_out(tmp_path / "policy.pt2")


def test_a_layer_that_makes_a_number_of_the_batch_is_told_of_its_shape(agent_of, tmp_path):
    agent = with_encoder(agent_of, Measures)
    with pytest.raises(
        RlkError, match=r"cannot trace policy 'mlp' .*\n.*x\.shape\[0\], not len\(x\)"
    ):
        export(agent, tmp_path / "policy.pt2")


def test_a_layer_that_branches_on_numbers_is_refused(agent_of, tmp_path):
    agent = with_encoder(agent_of, Branches)
    with pytest.raises(RlkError, match=r"cannot trace policy 'mlp' .*\n.*let no branch"):
        export(agent, tmp_path / "policy.pt2")
    assert not list(tmp_path.iterdir())


def test_an_operation_that_onnx_lacks_is_refused(agent_of, tmp_path):
    agent = with_encoder(agent_of, NotInOnnx)
    with pytest.raises(RlkError, match=r"an operation that a \.onnx cannot hold"):
        export(agent, tmp_path / "policy.onnx")
    assert not list(tmp_path.iterdir())
    export(agent, tmp_path / "policy.pt2")


def test_what_would_act_otherwise_is_not_written_and_what_was_there_stays(agent_of, tmp_path):
    path = tmp_path / "policy.pt2"
    path.write_text("before")
    agent = with_encoder(agent_of, Counts)
    with pytest.raises(
        RlkError, match=r"would not act as the agent does: torch ran it, and \d+ of"
    ):
        export(agent, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


class TakesTheFirst:
    """An actor that takes the first action, whatever it sees."""

    def start(self, n_envs: int) -> None:
        return None

    def metrics(self) -> dict[str, float]:
        return {}

    def act(
        self, observation: Any, carry: Any, episode_start: Any, deterministic: bool = False
    ) -> Act:
        action = np.zeros(len(episode_start), np.int64)
        return Act(action, action + 1, None, {})


class First(nn.Module):
    def forward(self, observation: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"action": torch.ones_like(observation[:, 0], dtype=torch.int64)}


class TellsItsModule(TakesTheFirst):
    def acting_module(self) -> nn.Module:
        return First()


def test_an_actor_of_ones_own_is_refused_or_says_what_it_computes(agent_of, tmp_path):
    agent = agent_of("dqn", env=Shows(), plugins=["no:numpy-acting"], **SMALL)
    agent.run.algorithm.actor = lambda rng=None: TakesTheFirst()
    with pytest.raises(RlkError, match=r"'dqn' .* acts by .*TakesTheFirst.*acting_module\(\)"):
        export(agent, tmp_path / "policy.pt2")
    agent.run.algorithm.actor = lambda rng=None: TellsItsModule()
    exported = export(agent, tmp_path / "policy.pt2")
    observation = shown(exported_space(), 3)
    assert loaded_pt2(exported.path)(observation)["action"].tolist() == [1, 1, 1]


def test_a_plugin_that_acts_otherwise_is_noticed(agent_of, tmp_path):
    class Otherwise:
        @hookimpl
        def rlk_make_actor(self, actor: Any) -> Any:
            return TakesTheFirst()

    agent = agent_of("dqn", env=Shows(), plugins=[Otherwise()], **SMALL)
    with pytest.raises(RlkError, match=r"rlk_make_actor"):
        export(agent, tmp_path / "policy.pt2")


def test_what_cannot_be_written_is_no_traceback(agent_of, tmp_path, monkeypatch):
    def full(*_: Any, **__: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(torch.export, "save", full)
    with pytest.raises(RlkError, match=r"policy.pt2 could not be written: No space left"):
        export(agent_of("dqn", env=Shows(), **SMALL), tmp_path / "policy.pt2")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_what_a_gpu_trained_is_written_for_the_cpu(agent_of, tmp_path):
    agent = agent_of("ppo2", env=Shows(), device="cuda", **SMALL)
    exported = export(agent, tmp_path / "policy.pt2")
    observation = shown(exported_space(), 3)
    expected, _ = agent.predict(observation, deterministic=True)
    assert np.array_equal(loaded_pt2(exported.path)(observation)["action"], expected)
