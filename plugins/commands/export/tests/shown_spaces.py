"""An environment of any two spaces, and what runs a file as somebody without rlk does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import onnx
import torch
from gymnasium import spaces
from onnx.reference import ReferenceEvaluator

from rlk.records import Act

PLACE = spaces.Box(-2.0, 2.0, (3,), np.float32)
IMAGE = spaces.Box(0, 255, (36, 36, 1), np.uint8)
KEYS = spaces.Dict({"a b": PLACE, "eye": IMAGE, "room": spaces.Discrete(4, start=2)})
FAR = spaces.Box(np.array([95.0, -1.0]), np.array([105.0, 1.0]), dtype=np.float64)


class Shows(gym.Env[Any, Any]):
    """Shows random elements of a space."""

    def __init__(self, observation: Any = PLACE, action: Any = None) -> None:
        self.observation_space = observation
        self.action_space = action or spaces.Discrete(3, start=1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.observation_space.sample(), 0.0, False, False, {}


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


def shown(space: Any, size: int, seed: int = 5) -> Any:
    """A batch of observations of a flat space."""
    space.seed(seed)
    samples = [space.sample() for _ in range(size)]
    if isinstance(space, spaces.Dict):
        return {key: np.stack([one[key] for one in samples]) for key in space.spaces}
    return np.stack(samples)


def run_onnx(path: Path, feeds: dict[str, Any], reference: bool = False) -> dict[str, Any]:
    """Outputs by name, of inputs by name."""
    if reference:
        evaluator: Any = ReferenceEvaluator(onnx.load(path))
        return dict(zip(evaluator.output_names, evaluator.run(None, feeds), strict=True))
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def loaded_pt2(path: Path) -> Callable[..., dict[str, Any]]:
    """What computes outputs by name, of an observation, and a state and where episodes start."""
    module = torch.export.load(path).module()

    def run(*arguments: Any) -> dict[str, Any]:
        found = module(*[torch.utils._pytree.tree_map(torch.as_tensor, each) for each in arguments])
        return {name: value.numpy() for name, value in found.items()}

    return run


def metadata_of_onnx(path: Path) -> dict[str, str]:
    return {one.key: one.value for one in onnx.load(path).metadata_props}


def metadata_of_pt2(path: Path) -> dict[str, str]:
    files = {"rlk.json": ""}
    torch.export.load(path, extra_files=files)
    found: dict[str, str] = json.loads(files["rlk.json"])
    return found
