"""What every allowed combination must do."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from matrix.product import STEPS

import rlk
from rlk.agent import Agent
from rlk.records import Array
from rlk_action_masking.masks import KEY, options


def trial(
    algorithm: str,
    settings: dict[str, Any],
    folder: Path,
    *,
    goes_on: bool = True,
    look: Callable[[Agent], None] = lambda agent: None,
) -> None:
    """Trains, saves, loads, acts the same, and trains on if it is to.

    Args:
        settings: as `rlk.make` takes them. look: at the agent, when it has trained.
    """
    with rlk.make(algorithm, **settings) as agent:
        before = agent.run.parameters.flat.clone()
        agent.learn(STEPS)
        assert agent.num_timesteps == STEPS and agent.run.clock.updates > 0
        after = agent.run.parameters.flat
        assert torch.isfinite(after).all() and not after.equal(before), "nothing was learnt"
        look(agent)
        seen = seen_by(agent)
        path, expected = agent.save(folder / "model"), acted(agent, seen)
    world = {key: settings[key] for key in settings if key.partition(".")[0] == "env"}
    with rlk.load(path, **world) as loaded:
        assert np.array_equal(acted(loaded, seen), expected)
        if goes_on:
            updates = loaded.run.clock.updates
            loaded.learn(STEPS // 2, reset_num_timesteps=False)
            assert loaded.num_timesteps == STEPS + STEPS // 2
            assert loaded.run.clock.updates > updates


def seen_by(agent: Agent) -> Any:
    """A batch of eight observations, always the same ones for a space.

    Their masks allow the first option of every choice, and some others.
    """
    batch = gym.vector.utils.batch_space(agent.plan.observation_space, 8)
    batch.seed(7)
    seen = batch.sample()
    if isinstance(seen, dict) and KEY in seen:
        each = options(agent.plan.action_space)
        seen[KEY][:, [0, *accumulate(each[:-1])]] = 1
    return seen


def acted(agent: Agent, seen: Any) -> Array:
    """Two deterministic actions of a batch, the second with the first one's state."""
    first, state = agent.predict(seen, deterministic=True)
    second, _ = agent.predict(seen, state, deterministic=True)
    return np.stack([first, second])
