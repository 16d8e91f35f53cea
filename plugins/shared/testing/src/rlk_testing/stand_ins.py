"""The smallest component of every kind that a run needs, to test another one without packages.

A run of them learns to predict the reward of an observation by least squares and calls all hooks.
They are written to be short, not fast.
"""

from __future__ import annotations

import base64
import functools
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from rlk import spaces
from rlk.component import Component
from rlk.errors import BadFile, RlkError
from rlk.files import replacing
from rlk.optimise import Group, Objective
from rlk.protocols import Optimise, State
from rlk.records import Act, Array, Batch, Field, Loss, Schema, Step, Update
from rlk.registry.kernel import Kernel
from rlk_testing.environments import environment_named
from rlk_testing.kernels import own_kernel
from rlk_testing.stand_in_collector import StandInCollector
from rlk_testing.stand_in_config import StandInConfig
from rlk_testing.stand_in_policy import StandInPolicy, tensors
from rlk_testing.stand_in_vec_env import StandInVecEnv


class StandIn:
    """Acts at random in any space and learns to predict the reward. Reports `td_error`."""

    def __init__(self, config: StandInConfig, run: Any) -> None:
        self.config, self.run = config, run
        self.policy = run.policy
        run.group("value", learning_rate=config.learning_rate)

    @staticmethod
    def heads(config: StandInConfig, run: Any) -> dict[str, Any]:
        return {"vf": ValueHead}

    def steps_per_collect(self) -> int:
        return self.config.n_steps

    def extras(self) -> Mapping[str, Field]:
        return {"guess": Field(())}

    def actor(self, rng: np.random.Generator) -> RandomActor:
        return RandomActor(self.run.action_space, rng)

    def batches(self, storage: Any) -> Iterator[Batch]:
        yield storage.sample(self.config.batch_size)

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        loss = optimise("value", self.loss, batch)
        return Update(loss.metrics, td_error=loss.outputs["td_error"])

    def loss(self, batch: Batch) -> Loss:
        (value,) = self.policy(batch.observation, "vf")
        error = value[:, 0] - batch.reward
        loss = (batch.weight * error.square()).mean()
        return Loss(loss, metrics={"loss": loss}, outputs={"td_error": error})


class ValueHead(nn.Module):
    """A head with one output, on the trunk of any policy."""

    def __init__(self, trunk: Any) -> None:
        super().__init__()
        self.trunk = trunk("vf")
        self.out = nn.Linear(self.trunk.features, 1)
        nn.init.zeros_(self.out.bias)

    def forward(self, features: Tensor) -> Tensor:
        return self.out(self.trunk(features))


class RandomActor:
    """Uniformly random actions; a deterministic action is the middle of the space."""

    def __init__(self, space: gym.Space[Any], rng: np.random.Generator) -> None:
        self.space, self.rng = space, rng

    def start(self, n_envs: int) -> None:
        return None

    def metrics(self) -> dict[str, float]:
        return {}

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        n, shape = len(episode_start), self.space.shape or ()
        uniform = np.full((n, *shape), 0.5) if deterministic else self.rng.random((n, *shape))
        action = self._from_uniform(uniform)
        start = getattr(self.space, "start", 0)
        kept = action.reshape(n, -1) if shape else action
        return Act(kept, action + start, None, {"guess": np.zeros(n, np.float32)})

    def _from_uniform(self, uniform: Array) -> Array:
        space = self.space
        if isinstance(space, gym.spaces.Box):
            low, high = np.maximum(space.low, -10.0), np.minimum(space.high, 10.0)
            return (low + uniform * (high - low)).astype(np.float32)
        sizes = {"Discrete": "n", "MultiDiscrete": "nvec"}.get(type(space).__name__, "")
        return (uniform * getattr(space, sizes, 2)).astype(np.int64)


class StandInStorage:
    """Keeps the last 20 vector steps in a list and samples uniformly."""

    size = 20

    def open(self, schema: Schema) -> None:
        self.schema = schema
        self._steps: list[dict[str, Any]] = []

    def add(self, step: Step) -> None:
        following = spaces.map_observation(np.copy, step.next_observation)
        for env, final in step.final_observation.items():
            _put(following, env, final)
        kept = {
            "observation": spaces.map_observation(np.copy, step.observation),
            "next_observation": following,
            "action": np.copy(step.action),
            "reward": np.asarray(step.reward, np.float32).copy(),
            "discount": np.where(step.terminated, 0.0, self.schema.gamma).astype(np.float32),
            **{f"extras.{name}": np.copy(step.extras[name]) for name in self.schema.extras},
        }
        self._steps = [*self._steps[-self.size + 1 :], kept]

    def restart(self) -> None:
        """Nothing to do: stored transitions do not depend on each other."""

    def __len__(self) -> int:
        return len(self._steps) * self.schema.n_envs

    def sample(self, batch_size: int) -> Batch:
        if not self._steps:
            raise RlkError("storage 'stand-in' is empty: collect a step before sampling from it.")
        index = self.schema.rng.integers(len(self), size=batch_size)
        rows, envs = index // self.schema.n_envs, index % self.schema.n_envs

        def gather(name: str) -> Any:
            values = [_at(self._steps[row][name], env) for row, env in zip(rows, envs, strict=True)]
            if isinstance(values[0], dict):
                stacked = {key: np.stack([value[key] for value in values]) for key in values[0]}
                return tensors(stacked, self.schema.device)
            return tensors(np.stack(values), self.schema.device)

        fields = {name: gather(name) for name in self._steps[0]}
        extras = {name: fields.pop(f"extras.{name}") for name in self.schema.extras}
        weight = torch.ones(batch_size, device=self.schema.device)
        return Batch(weight=weight, index=index, extras=extras, **fields)

    def feedback(self, batch: Batch, update: Update) -> None:
        """It has no priorities to change."""

    def state_dict(self) -> State:
        return {"steps": list(self._steps)}

    def load_state_dict(self, state: State) -> None:
        for kept in state["steps"][:1]:
            if not self._fits(kept["observation"]):
                raise RlkError("storage 'stand-in': what was saved has other observations.")
        self._steps = list(state["steps"])

    def _fits(self, observation: Any) -> bool:
        space = self.schema.observation_space
        if isinstance(space, gym.spaces.Dict):
            return isinstance(observation, Mapping) and set(observation) == set(space.spaces)
        return tuple(np.shape(observation)[1:]) == tuple(space.shape or ())


def _put(batch: Any, env: int, observation: Any) -> None:
    if isinstance(batch, dict):
        for key, part in batch.items():
            part[env] = observation[key]
    else:
        batch[env] = observation


def _at(observation: Any, env: int) -> Any:
    return spaces.map_observation(lambda part: part[env], observation)


class StandInOptimiser:
    """Plain gradient descent; a step that is non-finite or not accepted is skipped."""

    def __init__(self, group: Group) -> None:
        self.group = group

    def step(self, objective: Objective) -> Loss:
        loss, gradient = objective.gradient()
        taken = torch.isfinite(torch.linalg.vector_norm(gradient))
        if loss.accept is not None:
            taken = taken & loss.accept
        move = torch.where(taken, self.group.learning_rate * gradient, torch.zeros_like(gradient))
        self.group.flat.sub_(move)
        return with_metrics(loss, grad_norm=torch.linalg.vector_norm(gradient))

    def state_dict(self) -> State:
        return {}

    def load_state_dict(self, state: State) -> None:
        """It has no state."""


def with_metrics(loss: Loss, **metrics: Tensor) -> Loss:
    """The loss with further metrics."""
    return Loss(
        loss.value,
        loss.distribution,
        loss.prediction,
        loss.accept,
        {**loss.metrics, **metrics},
        loss.outputs,
    )


class StandInSerializer:
    """JSON, with arrays and tensors in base64, compressed by zlib, which adds a checksum."""

    suffix = ".standin"

    def find(self, path: Path, best: bool = False) -> Path | None:
        names = [*["best_model"] * best, "model", *_newest_first(path / "checkpoints")]
        files = [path, Path(f"{path}{self.suffix}")]
        files += [path / f"{name}{self.suffix}" for name in names]
        return next((f for f in files if f.is_file() and f.name.endswith(self.suffix)), None)

    def write(self, path: Path, state: State) -> None:
        content = zlib.compress(json.dumps(_pack(state)).encode())
        with replacing(path) as file:
            file.write(content)

    def read(self, path: Path) -> State:
        try:
            state: State = _unpack(json.loads(zlib.decompress(path.read_bytes())))
        except (OSError, zlib.error, ValueError, KeyError, TypeError) as error:
            raise BadFile(f"{path} is not a stand-in file: {error}") from None
        return state

    def manifest(self, path: Path) -> State:
        return self.read(path)["manifest"]


def _newest_first(folder: Path) -> list[str]:
    found = [file.name.partition(".")[0] for file in folder.glob("*")]
    numbers = sorted((int(name) for name in found if name.isdecimal()), reverse=True)
    return [f"checkpoints/{number}" for number in numbers]


def _pack(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"dict": {key: _pack(part) for key, part in value.items()}}
    if isinstance(value, (list, tuple)):
        return [_pack(part) for part in value]
    if isinstance(value, Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        raw = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
        return {"tensor": [dtype, list(value.shape), base64.b64encode(raw.tobytes()).decode()]}
    if isinstance(value, np.ndarray):
        written = io.BytesIO()
        np.save(written, value, allow_pickle=False)
        return {"array": base64.b64encode(written.getvalue()).decode()}
    return value.item() if isinstance(value, np.generic) else value


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpack(part) for part in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "dict":
        return {key: _unpack(part) for key, part in content.items()}
    if kind == "array":
        return np.load(io.BytesIO(base64.b64decode(content)), allow_pickle=False)
    dtype, shape, text = content
    raw = torch.tensor(list(base64.b64decode(text)), dtype=torch.uint8)
    return raw.view(getattr(torch, dtype)).reshape(shape)


class StandInEnvironments:
    """Finds environments by Gymnasium's ids, and the classes of `rlk_testing.environments`."""

    def __call__(self, asked: str) -> Any:
        known = asked in gym.registry
        made = functools.partial(gym.make, asked, disable_env_checker=True) if known else None
        return environment_named(asked) or made

    def known(self) -> list[str]:
        return list(gym.registry)


COMPONENTS = {
    "algorithms": Component(
        name="stand-in",
        factory=StandIn,
        summary="learns to predict rewards",
        config=StandInConfig,
        reports=("td_error",),
        defaults={
            "env": "CartPole-v1",
            "policy": "stand-in-policy",
            "vec_env": "stand-in-vec-env",
            "storage": "stand-in-storage",
            "collector": "stand-in-collector",
            "optimiser": "stand-in-optimiser",
            "serializer": "stand-in-serializer",
        },
    ),
    "policies": Component(
        name="stand-in-policy", factory=StandInPolicy, summary="no hidden layers"
    ),
    "vec_envs": Component(
        name="stand-in-vec-env", factory=StandInVecEnv, summary="Gymnasium's loop"
    ),
    "storages": Component(name="stand-in-storage", factory=StandInStorage, summary="lists"),
    "collectors": Component(
        name="stand-in-collector", factory=StandInCollector, summary="one step at a time"
    ),
    "optimisers": Component(
        name="stand-in-optimiser", factory=StandInOptimiser, summary="gradient descent"
    ),
    "serializers": Component(name="stand-in-serializer", factory=StandInSerializer, summary="JSON"),
    "environments": Component(
        name="stand-in-environments", factory=StandInEnvironments(), summary="ids of Gymnasium"
    ),
}


def stand_in_kernel(discover: bool = False) -> Kernel:
    """A kernel for `rlk.make("stand-in", kernel=…)`; `discover` adds all installed components."""
    kernel = own_kernel() if discover else Kernel(discover=False)
    for kind, component in COMPONENTS.items():
        kernel.registries[kind].register(component.name, component)
    return kernel
