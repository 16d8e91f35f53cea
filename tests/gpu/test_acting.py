"""Small policies on a GPU act in numpy, with a copy of their parameters, as they act in torch."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.conftest import DEVICE
from matrix.product import WORLD, run_settings

import rlk
from rlk_networks.held_noise import HeldNoiseActor
from rlk_numpy_acting.cpu_copy import FollowingActor

RUNS = {
    "dqn": ("dqn", "Discrete", {}),
    "sac": ("sac", "Box", {}),
    "td3": ("td3", "Box", {}),
    "ddpg, normalised": ("ddpg", "Box", {"normalize_observations": True}),
    "ppo2": ("ppo2", "Discrete", {}),
    "ppo with gsde": ("ppo", "Box", {"use_sde": True}),
    "a2c, normalised": ("a2c", "Box", {"plugins": ["normalize"]}),
}

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(("algorithm", "action", "settings"), RUNS.values(), ids=RUNS)
def test_training_and_predictions_are_those_without_it(algorithm, action, settings):
    world = {"env": WORLD, "env.observation": "Box", "env.action": action}
    shared = {**run_settings(algorithm), "policy": "mlp", "device": DEVICE, **world, **settings}
    changes, actions = [], []
    for left_out in ((), ("no:numpy-acting",)):
        plugins = [*shared.get("plugins", ()), *left_out]
        with rlk.make(algorithm, **{**shared, "plugins": plugins}) as agent:
            actor = agent.run.make_actor()
            inner = actor.actor if isinstance(actor, HeldNoiseActor) else actor
            assert isinstance(inner, FollowingActor) != bool(left_out)
            before = agent.run.parameters.flat.clone()
            agent.learn(256)
            changes.append((agent.run.parameters.flat - before).cpu().numpy())
            observation, _ = agent.run.env.reset(seed=[5] * agent.run.n_envs)
            actions.append(agent.predict(observation, deterministic=True)[0])
    assert np.linalg.norm(changes[0] - changes[1]) <= 0.01 * np.linalg.norm(changes[1])
    np.testing.assert_allclose(actions[0], actions[1], atol=1e-2)
