"""Every combination that is allowed trains, is saved, and acts the same when it is loaded."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from matrix.product import STEPS, covering, env_settings, everything, keywords
from matrix.rules import conflicts, eager, graphs

import rlk
from rlk.registry.kernel import default_kernel

INSTALLED = {entry.name for entries in default_kernel().registries for entry in entries}
ALLOWED = [one for one in everything(INSTALLED) if not conflicts(one)]
COVERING = set(covering(one.parts() for one in ALLOWED))
CASES = [
    pytest.param(one, id=str(one), marks=[] if one.parts() in COVERING else pytest.mark.matrix_full)
    for one in ALLOWED
]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def acted(agent, seen):
    """Two deterministic actions of a batch each, the second with the first one's state."""
    first, state = agent.predict(seen, deterministic=True)
    second, _ = agent.predict(seen, state, deterministic=True)
    return np.stack([first, second])


@pytest.mark.parametrize("one", CASES)
def test_it_trains_saves_loads_and_acts_the_same(one, tmp_path, capfd, counted):
    settings = keywords(one)
    with rlk.make(one.algorithm, **settings, verbose=int(one.extension == "compile")) as agent:
        before = agent.run.parameters.flat.clone()
        agent.learn(STEPS)
        assert agent.num_timesteps == STEPS and agent.run.clock.updates > 0
        after = agent.run.parameters.flat
        assert torch.isfinite(after).all() and not after.equal(before), "nothing was learnt"
        check_compiled(one, agent, capfd.readouterr().err)
        batch = gym.vector.utils.batch_space(agent.plan.observation_space, 8)
        batch.seed(7)
        seen = batch.sample()
        path, expected = agent.save(tmp_path / "model"), acted(agent, seen)
    with rlk.load(path, **env_settings(one)) as loaded:
        assert np.array_equal(acted(loaded, seen), expected)
        if one.extension == "none":  # tracing anew takes long; tests/resume goes on compiled
            updates = loaded.run.clock.updates
            loaded.learn(STEPS // 2, reset_num_timesteps=False)
            assert loaded.num_timesteps == STEPS + STEPS // 2
            assert loaded.run.clock.updates > updates
    counted("allowed: trained, saved, loaded, acted the same")


def check_compiled(one, agent, printed):
    """Updates are graphs where they are to be, and where not, it is said."""
    if one.extension != "compile":
        return
    update, expected = agent.run.update, graphs(one)
    assert {key for key, _ in getattr(update, "reports", ())} == expected, printed
    assert set(getattr(update, "reasons", ())) == eager(one)
    assert ("is one graph" in printed) == bool(expected)
    assert ("runs eagerly" in printed) == (not expected or bool(eager(one)))
