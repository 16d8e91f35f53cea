"""What is in a file, and what is refused: never is there a file that acts otherwise."""

from __future__ import annotations

import importlib.util
import json
import logging
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from gymnasium import spaces
from shown_spaces import (
    KEYS,
    Shows,
    TakesTheFirst,
    loaded_pt2,
    metadata_of_onnx,
    metadata_of_pt2,
    shown,
)
from torch import nn

import rlk_export
from rlk.documents import parse_json
from rlk.errors import RlkError
from rlk.hookspecs import hookimpl
from rlk.records import Act
from rlk_export import export
from rlk_export.out_file import check_out
from rlk_export.signature import Signature, in_words, metadata, signature_of
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


def test_every_name_of_the_package_is_what_it_says():
    for name in rlk_export.__all__:
        assert getattr(rlk_export, name).__name__ == name
    with pytest.raises(AttributeError, match="'rlk_export' has no attribute 'exports'"):
        _ = rlk_export.exports


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
    assert [axis.dim_param for axis in action.type.tensor_type.shape.dim] == ["batch"]


def test_every_key_has_a_name_of_its_own_that_every_language_takes(agent_of):
    keys = spaces.Dict({key: spaces.Discrete(2) for key in ("a b", "a_b", "é")})
    agent = agent_of("ppo2", env=Shows(keys), policy="multi-input")
    inputs = signature_of(agent.plan, np.zeros(1, np.int64), None).inputs
    assert {one.key: one.name for one in inputs} == {
        "a b": "observation_a_b",
        "a_b": "observation_a_b_",
        "é": "observation__",
    }


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


def test_exporting_leaves_what_the_agent_draws_as_it_was(agent_of, tmp_path):
    drawn = []
    for exports in (False, True):
        agent = agent_of("ppo2", env=Shows(), **SMALL)
        if exports:
            export(agent, tmp_path / "policy.pt2")
        drawn.append(agent.predict(shown(exported_space(), 50))[0].tolist())
    assert drawn[0] == drawn[1]


def test_torch_says_nothing_of_its_own_while_it_writes(agent_of, tmp_path, monkeypatch, recwarn):
    save, logger = torch.export.save, logging.getLogger("torch.onnx")
    logged = []

    def talkative(*given: Any, **others: Any) -> None:
        warnings.warn("a package is missing", UserWarning, stacklevel=1)
        logged.append(logger.isEnabledFor(logging.WARNING))
        save(*given, **others)

    monkeypatch.setattr(torch.export, "save", talkative)
    before = logger.isEnabledFor(logging.WARNING)
    export(agent_of("dqn", env=Shows(), **SMALL), tmp_path / "policy.pt2")
    assert "a package is missing" not in [str(one.message) for one in recwarn]
    assert (before, logged, logger.isEnabledFor(logging.WARNING)) == (True, [False], True)


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
    with pytest.raises(RlkError, match=r'onnx and onnxscript\. Type: pip install "rlk-export\[onn'):
        check_out(Path("policy.onnx"))
    check_out(Path("policy.pt2"))


def test_an_impossible_name_is_refused():
    with pytest.raises(RlkError, match=r"\.pt2 cannot be written: .*too long"):
        check_out(Path("x" * 300 + ".pt2"))


def test_a_name_may_begin_at_the_home_folder(agent_of, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    exported = export(agent_of("dqn", env=Shows(), **SMALL), "~/policy.pt2")
    assert exported.path == tmp_path / "policy.pt2" and exported.path.is_file()


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


def test_a_package_too_old_for_torch_is_named_with_what_to_type(agent_of, tmp_path, monkeypatch):
    def of_a_newer_release(*_: Any, **__: Any) -> None:
        importlib.import_module("onnxscript._framework_apis.torch_999")

    monkeypatch.setattr(torch.onnx, "export", of_a_newer_release)
    with pytest.raises(RlkError, match=r"old: .*torch_999'\nType: pip install -U onnx onnxscript$"):
        export(agent_of("dqn", env=Shows(), **SMALL), tmp_path / "policy.onnx")
    assert not list(tmp_path.iterdir())


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


class First(nn.Module):
    def forward(self, observation: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"action": torch.ones_like(observation[:, 0], dtype=torch.int64)}


class Half(nn.Module):
    """An action of two numbers, which are a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.action = nn.Parameter(torch.full((2,), 0.5))

    def forward(self, observation: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"action": self.action.expand(observation.shape[0], 2)}


class TakesHalf(TakesTheFirst):
    def act(
        self, observation: Any, carry: Any, episode_start: Any, deterministic: bool = False
    ) -> Act:
        action = np.full((len(episode_start), 2), 0.5, np.float32)
        return Act(action, action, None, {})

    def acting_module(self) -> nn.Module:
        return Half()


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


def test_a_module_of_ones_own_may_have_parameters(agent_of, tmp_path):
    box = spaces.Box(-1.0, 1.0, (2,), np.float32)
    agent = agent_of("td3", env=Shows(action=box), plugins=["no:numpy-acting"], **SMALL)
    agent.run.algorithm.actor = lambda rng=None: TakesHalf()
    exported = export(agent, tmp_path / "policy.pt2")
    program = torch.export.load(exported.path).module()
    found = program(torch.from_numpy(shown(exported_space(), 3)))["action"]
    assert found.tolist() == [[0.5, 0.5]] * 3


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


#: Writes a .pt2 to a full disk.
TO_A_FULL_DISK = """
import errno, io, torch
from rlk_export.formats import FORMATS

class FullDisk(io.BytesIO):
    def write(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

program = torch.export.export(torch.nn.Linear(2, 1), (torch.zeros(3, 2),))
try:
    FORMATS[".pt2"].write(FullDisk(), program, None, {})
except OSError as error:
    print(error)
"""


def test_a_pt2_on_a_full_disk_is_an_error_and_not_the_end_of_the_process():
    done = subprocess.run([sys.executable, "-c", TO_A_FULL_DISK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "No space left on device" in done.stdout


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_what_a_gpu_trained_is_written_for_the_cpu(agent_of, tmp_path):
    agent = agent_of("ppo2", env=Shows(), device="cuda", **SMALL)
    exported = export(agent, tmp_path / "policy.pt2")
    observation = shown(exported_space(), 3)
    expected, _ = agent.predict(observation, deterministic=True)
    assert np.array_equal(loaded_pt2(exported.path)(observation)["action"], expected)
