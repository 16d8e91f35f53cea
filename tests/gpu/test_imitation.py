"""Clones and discriminators learn on a GPU, beside a policy that is there."""

from __future__ import annotations

import pytest
from gpu.conftest import DEVICE
from matrix.trial import acted

import rlk

pytestmark = pytest.mark.gpu
SETTINGS = {
    "bc": {"batch_size": 2, "total_timesteps": 30},
    "gail": {"model": "ppo2", "g_step": 1, "n_steps": 16, "nminibatches": 2, "noptepochs": 2},
    "airl": {"model": "a2c", "g_step": 1},
}


@pytest.mark.parametrize("algorithm", SETTINGS)
def test_an_imitation_learns_is_saved_and_loaded(algorithm, rlk_expert, tmp_path):
    env = "rlk_testing.environments:DiscreteMatch"
    given = {"env": env, "expert_path": str(rlk_expert), "seed": 1, "device": DEVICE}
    with rlk.make(algorithm, **given, **SETTINGS[algorithm]) as agent:
        before = agent.run.parameters.flat.clone()
        agent.learn(64)
        assert not agent.run.parameters.flat.equal(before)
        seen = [agent.plan.observation_space.sample() for _ in range(4)]
        path = agent.save(tmp_path / "model")
        with rlk.load(path, env=env) as loaded:
            assert loaded.run.parameters.flat.device.type == DEVICE
            for one in seen:
                assert (acted(loaded, one) == acted(agent, one)).all()
