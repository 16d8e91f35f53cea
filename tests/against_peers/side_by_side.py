"""A model of Stable-Baselines3, or sb3-contrib, and rlk's: both learn the same from the same start.

rlk's is loaded from the other's file. The other collects, and rlk's storage gets the same steps;
then each makes its own update. `there` is the other, `here` is rlk.

Shapes: T steps, N environments, S numbers of an LSTM's state.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import rlk_sb3
import rlk_sb3_contrib
from rlk.records import Array, Step
from rlk.spaces import map_observation
from rlk_action_masking.masks import observation_with_mask, options
from rlk_on_policy.advantages import advantages
from rlk_sb3.common.vec_env import DummyVecEnv

ASKED = "is not installed: pip install -r benchmarks/requirements.txt"
sb3 = pytest.importorskip("stable_baselines3", reason=f"stable-baselines3 {ASKED}")
contrib = pytest.importorskip("sb3_contrib", reason=f"sb3-contrib {ASKED}")

#: After how many updates the last comparison is made: Adam's state and targets have moved by then.
UPDATES = 5
#: Parameters may differ by the first part of how far they have moved, because sums are made in
#: another order, and by the second part of themselves, which is float32's precision.
OF_MOVE, OF_VALUE = 5e-4, 1e-6

SEEN = spaces.Box(-1.0, 1.0, (3,), np.float32)
PARTS = spaces.Dict({"far": SEEN, "near": spaces.Box(-1.0, 1.0, (2,), np.float32)})
IMAGE = spaces.Box(0, 255, (1, 36, 36), np.uint8)
DISCRETE = spaces.Discrete(3)
BOX = spaces.Box(-2.0, 2.0, (2,), np.float32)
SEVERAL = spaces.MultiDiscrete([2, 3])
SWITCHES = spaces.MultiBinary(3)

Patch = pytest.MonkeyPatch
#: Makes the other draw the random numbers that rlk draws.
DrawAlike = Callable[[Patch], None]
Batches = list[Any]
Parameters = Mapping[str, Array]


class World(gym.Env[Any, Any]):
    """Observations, rewards and ends of episodes are random, whatever the actions are.

    Of ten steps, one terminates its episode and two truncate it.
    """

    def __init__(self, observation_space: Any, action_space: Any, seed: int) -> None:
        self.observation_space = copy.deepcopy(observation_space)
        self.action_space = copy.deepcopy(action_space)
        self.observation_space.seed(seed)
        self.action_space.seed(seed)
        self.rng = np.random.default_rng(seed)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        end, reward = self.rng.integers(10), float(self.rng.normal())
        return self.observation_space.sample(), reward, bool(end == 0), bool(end in (1, 2)), {}

    def action_masks(self) -> Array:
        """At most one option of each choice is forbidden, at random."""
        sizes = options(self.action_space)
        return np.concatenate([np.arange(n) != self.rng.integers(n + 1) for n in sizes])


class Recorder(sb3.common.callbacks.BaseCallback):  # type: ignore[misc]
    """Keeps what the other collects, as the steps that rlk's storages take."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []

    def _on_step(self) -> bool:
        found, infos = self.locals, self.locals["infos"]
        ended = found["dones"]
        truncated = ended & [info.get("TimeLimit.truncated", False) for info in infos]
        final = {int(n): infos[n]["terminal_observation"] for n in np.flatnonzero(ended)}
        is_on_policy = "log_probs" in found
        step = Step(
            observation=self.model._last_obs,
            action=found["actions" if is_on_policy else "buffer_actions"],
            reward=found["rewards"],
            terminated=ended & ~truncated,
            truncated=truncated,
            next_observation=found["new_obs"],
            final_observation=final,
            extras=self._extras() if is_on_policy else {},
        )
        masks = found.get("action_masks")
        self.steps.append(copy.deepcopy(step if masks is None else _with_masks(step, masks)))
        return True

    def _extras(self) -> dict[str, Array]:
        found = self.locals
        extras = {"value": found["values"].numpy().ravel(), "log_prob": found["log_probs"].numpy()}
        if "lstm_states" in found:
            extras["state"] = _state(self.model)
            extras["episode_start"] = np.asarray(self.model._last_episode_starts, bool)
        return extras


def _with_masks(step: Step, masks: Array) -> Step:
    """The step with its masks; values do not depend on those of the next observations."""
    everything = np.ones_like(masks)
    final = step.final_observation.items()
    return step._replace(
        observation=observation_with_mask(step.observation, masks),
        next_observation=observation_with_mask(step.next_observation, everything),
        final_observation={n: observation_with_mask(one, everything[n]) for n, one in final},
    )


def _state(model: Any) -> Array:
    """The state of the LSTMs before a step as rlk lays it out, [N, S]: layer by layer, h and c."""
    last, parts = model._last_lstm_states, []
    for hidden, cell in (last.pi, last.vf) if model.policy.lstm_critic is not None else (last.pi,):
        for layer in range(len(hidden)):
            parts += [hidden[layer], cell[layer]]
    return np.concatenate(parts, -1)


class Pair:
    """The other's model, and rlk's from its file, in the same worlds.

    Args:
        folder: where the file is written.
        kind: the name of the other's class.
        action_space, observation_space: of a world.
        policy: its name there; None is the MLP, or for a Dict that of several inputs.
        n_envs: N.
        here: settings of rlk's model alone.
        settings: of the other's model.
    """

    def __init__(
        self,
        folder: Path,
        kind: str,
        action_space: Any,
        observation_space: Any = SEEN,
        policy: str | None = None,
        n_envs: int = 2,
        here: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        theirs, ours = (sb3, rlk_sb3) if hasattr(sb3, kind) else (contrib, rlk_sb3_contrib)
        if policy is None:
            is_dict = isinstance(observation_space, spaces.Dict)
            policy = "MultiInputPolicy" if is_dict else "MlpPolicy"
        worlds = [
            lambda seed=seed: World(observation_space, action_space, seed) for seed in range(n_envs)
        ]
        self._path = folder / "there.zip"
        vector = sb3.common.vec_env.DummyVecEnv(worlds)
        self.there = getattr(theirs, kind)(policy, vector, seed=0, **copy.deepcopy(settings))
        self.there.save(self._path)
        self.here = getattr(ours, kind).load(self._path, env=DummyVecEnv(worlds), **(here or {}))
        self.run = self.here.agent.run
        self.run.refresh_schedules()
        self.recorder = Recorder()
        _, self.callback = self.there._setup_learn(10**6, self.recorder)
        self.start = self.found()

    def found(self) -> dict[str, Array]:
        """The parameters here, targets and coefficients too."""
        return self.here.agent.get_parameters()

    def expected(self) -> dict[str, Array]:
        """Those there, by the names here."""
        self.there.save(self._path)
        return self.here.foreign_files.parameters_in(self._path, self.here)


def check_parameters(pair: Pair) -> None:
    """Both have the same parameters."""
    check_same(pair.found(), pair.expected(), pair.start)


def check_same(found: Parameters, expected: Parameters, start: Parameters) -> None:
    """Parameters that were the same at the start are the same."""
    norm = np.linalg.norm
    for name, value in expected.items():
        allowed = OF_MOVE * norm(value - start[name]) + OF_VALUE * max(1.0, norm(value))
        difference = norm(found[name] - value)
        assert difference <= allowed, f"{name}: {difference:.1e} apart, {allowed:.1e} allowed"


def check_all_moved(pair: Pair) -> None:
    """Each parameter has moved, so that all were compared after a step."""
    still = [k for k, value in pair.found().items() if np.array_equal(value, pair.start[k])]
    assert not still, f"not moved: {still}"


def close(found: Any, expected: Any) -> None:
    """Arrays are equal, up to a small part of their largest element, or of 1 if that is smaller."""
    found, expected = np.asarray(found), np.asarray(expected)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=2e-5 * scale)


# ---- learning from rollouts ----------------------------------------------------------------------


def learn_from_rollout(pair: Pair, draw_alike: DrawAlike | None = None) -> SimpleNamespace:
    """Collect there, and make the update of this collection there and here.

    Args:
        draw_alike: makes the other take minibatches in rlk's order; None is `shuffle_alike`.

    Returns:
        `there`, what the other logs, and `here`, rlk's metrics of every minibatch.
    """
    there, run = pair.there, pair.run
    pair.recorder.steps.clear()
    there.collect_rollouts(there.env, pair.callback, there.rollout_buffer, there.n_steps)
    for step in pair.recorder.steps:
        run.storage.add(step)
    rollout, buffer = run.storage.latest(), there.rollout_buffer
    advantage = advantages(rollout, run.policy, there.gamma, there.gae_lambda)
    close(advantage, buffer.advantages)
    close(advantage + rollout.extras["value"], buffer.returns)
    with Patch.context() as patch:
        (draw_alike or shuffle_alike(pair))(patch)
        there.train()
    logged = {name: float(value) for name, value in there.logger.name_to_value.items()}
    return SimpleNamespace(there=logged, here=_updates(pair, []))


def shuffle_alike(pair: Pair) -> DrawAlike:
    """Row t N + n of a rollout is row n T + t of the other's buffer."""
    stream, n_envs = copy.deepcopy(pair.run.streams.numpy("update")), pair.there.n_envs

    def permutation(size: int) -> Array:
        time, env = np.divmod(stream.permutation(size), n_envs)
        return env * (size // n_envs) + time

    return lambda patch: patch.setattr(np.random, "permutation", permutation)


def check_means(learnt: SimpleNamespace, *names: str) -> None:
    """Metrics that both log as means over all minibatches are the same."""
    for name in names:
        found = np.mean([one[name] for one in learnt.here if name in one])
        close(found, learnt.there[f"train/{name}"])


# ---- learning from replays -----------------------------------------------------------------------


def fill_replay(pair: Pair, steps: int = 48) -> None:
    """The other collects by random actions; both replays have the same transitions."""
    there, aliases = pair.there, sb3.common.type_aliases
    frequency = aliases.TrainFreq(steps, aliases.TrainFrequencyUnit.STEP)
    call = (there.env, pair.callback, frequency, there.replay_buffer)
    there.collect_rollouts(*call, learning_starts=10**6)
    for step in pair.recorder.steps:
        pair.run.storage.add(step)


def learn_from_replay(
    pair: Pair, draw_alike: Callable[[Patch, Batches], None] = lambda patch, batches: None
) -> SimpleNamespace:
    """Make the updates that follow a vector step, here and there, from the same samples.

    Args:
        draw_alike: makes the other draw the noise in the extras of rlk's batches.
    """
    there, batches = pair.there, []
    pair.run.clock.timesteps += there.n_envs
    metrics = _updates(pair, batches)
    given = iter(batches)
    with Patch.context() as patch:
        patch.setattr(there.replay_buffer, "sample", lambda n, env: _same(there, next(given)))
        draw_alike(patch, batches)
        there.train(len(batches), there.batch_size)
    logged = {name: float(value) for name, value in there.logger.name_to_value.items()}
    return SimpleNamespace(there=logged, here=metrics)


def _same(there: Any, batch: Any) -> Any:
    """The other's sample at rlk's index, which has the same transitions."""
    rows, envs = np.divmod(batch.index, there.n_envs)
    with Patch.context() as patch:
        patch.setattr(np.random, "randint", lambda *bounds, **size: envs)
        data = there.replay_buffer._get_samples(rows)
    gamma = there.gamma if data.discounts is None else data.discounts
    for found, expected in (
        (batch.observation, data.observations),
        (batch.next_observation, data.next_observations),
        (batch.action.reshape(data.actions.shape), data.actions),
        (batch.reward[:, None], data.rewards),
        (batch.discount[:, None], gamma * (1.0 - data.dones)),
    ):
        for part, other in zip(_parts(found), _parts(expected), strict=True):
            close(part, other)
    return data


def _parts(observation: Any) -> list[Any]:
    """The arrays of an observation, by the order of their keys."""
    parts: list[Any] = []
    map_observation(parts.append, observation)
    return parts


def _updates(pair: Pair, batches: Batches) -> list[dict[str, float]]:
    """Make rlk's updates, as its loop does, and note their batches; the metrics of each."""
    run, found = pair.run, []
    for batch in run.algorithm.batches(run.storage):
        batches.append(batch)
        update = run.update(batch, run.optimise)
        run.clock.updates += 1
        found.append({name: float(value) for name, value in update.metrics.items()})
    return found
