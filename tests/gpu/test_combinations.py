"""Every pair of components trains on a GPU, to the numbers of a CPU, and is loaded on either."""

from __future__ import annotations

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch
from gpu.conftest import DEVICE
from matrix.product import STEPS, WORLD, covering, everything, keywords, run_settings
from matrix.rules import conflicts
from matrix.trial import acted, trial

import rlk

#: Of the change, by which sums of another order may differ.
TOLERANCE = 0.01
#: Storages, and how environments are stepped, know nothing of the device.
ALLOWED = [
    attrs.evolve(one, vec_env="dummy")
    for one in everything()
    if one.extension == "none" and not conflicts(one)
]
FACTORS = ("algorithm", "policy", "observation", "action")
OF_PARTS = {one.parts(*FACTORS): one for one in ALLOWED}
CASES = sorted((OF_PARTS[parts] for parts in covering(OF_PARTS)), key=str)

#: Settings besides, which bring tensors of their own: name -> algorithm, actions, settings.
OTHERS = {
    "dqn with layer norm": ("dqn", "Discrete", {"policy.layer_norm": True, "param_noise": True}),
    "dqn with one plain network": ("dqn", "Discrete", {"double_q": False, "dueling": False}),
    "dqn with priorities": ("dqn", "Discrete", {"prioritized_replay": True, "plugins": ["n-step"]}),
    "ddpg with everything": (
        "ddpg",
        "Box",
        {
            "normalize_observations": True,
            "normalize_returns": True,
            "enable_popart": True,
            "critic_l2_reg": 0.01,
            "param_noise": "adaptive-parameter-noise",
        },
    ),
    "td3 with noise": ("td3", "Box", {"action_noise": "ornstein-uhlenbeck-noise"}),
    "sac with gsde": ("sac", "Box", {"use_sde": True}),
    "sac with a fixed entropy coefficient": ("sac", "Box", {"ent_coef": 0.1}),
    "ppo with gsde": ("ppo", "Box", {"use_sde": True, "sde_sample_freq": 4}),
    "ppo with a limit": ("ppo", "Discrete", {"target_kl": 0.01, "clip_range_vf": 0.2}),
    "ppo with beta": ("ppo", "Box", {"distribution": "beta"}),
    "ppo2 with squashed-gaussian": ("ppo2", "Box", {"distribution": "squashed-gaussian"}),
    "acktr with a thread": ("acktr", "Discrete", {"async_eigen_decomp": True}),
    "ppo2 with kfac": ("ppo2", "Box", {"optimiser": "kfac"}),
    "a2c with natural-gradient": (
        "a2c",
        "Discrete",
        # Ten iterations divide by residuals that are rounding errors: on one CPU, too, parameters
        # that differ by 1e-7 then make steps that differ by a third.
        {
            "optimiser": "natural-gradient",
            "learning_rate": 1.0,
            "natural-gradient.cg_iters": 5,
        },
    ),
    "a2c with adam": ("a2c", "Box", {"optimiser": "adam", "learning_rate": "lin_1e-3"}),
    "a2c with normalize": ("a2c", "Box", {"plugins": ["normalize"]}),
    "ppo2 with two LSTMs": (
        "ppo2",
        "Discrete",
        {"policy": "lstm", "lstm.n_lstm_layers": 2, "lstm.value_lstm": "own", "lstm.n_lstm": 8},
    ),
    "acer with a layer-normalised LSTM": (
        "acer",
        "Discrete",
        {"policy": "lstm", "lstm.layer_norm": True, "lstm.n_lstm": 8},
    ),
}

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("one", CASES, ids=str)
def test_it_trains_saves_loads_and_acts_the_same(one, tmp_path):
    trial(one.algorithm, {**keywords(one), "device": DEVICE}, tmp_path)


def learnt(algorithm, settings, device):
    """The change of all parameters by a short training."""
    with rlk.make(algorithm, **{**settings, "device": device}) as agent:
        before = agent.run.parameters.flat.clone()
        assert before.device.type == device
        agent.learn(STEPS)
        return (agent.run.parameters.flat - before).cpu()


def same_change(algorithm, settings):
    on_cpu, on_gpu = (learnt(algorithm, settings, device) for device in ("cpu", DEVICE))
    assert on_cpu.any()
    distance = torch.linalg.vector_norm(on_gpu - on_cpu) / torch.linalg.vector_norm(on_cpu)
    assert distance <= TOLERANCE


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_gpu_learns_what_a_cpu_learns(one):
    same_change(one.algorithm, keywords(one))


@pytest.mark.parametrize(("algorithm", "action", "settings"), OTHERS.values(), ids=OTHERS)
def test_it_does_so_with_other_settings(algorithm, action, settings, tmp_path):
    shared = {**run_settings(algorithm), "env": WORLD, "env.observation": "Box"}
    given = {**shared, "policy": "mlp", "env.action": action, **settings}
    same_change(algorithm, given)
    trial(algorithm, {**given, "device": DEVICE}, tmp_path)


@pytest.mark.parametrize("algorithm", sorted({one.algorithm for one in CASES}))
@pytest.mark.parametrize("devices", [(DEVICE, "cpu"), ("cpu", DEVICE)], ids="-to-".join)
def test_what_one_device_saves_the_other_loads(algorithm, devices, tmp_path):
    one = next(case for case in CASES if case.algorithm == algorithm)
    settings = keywords(one)
    world = {key: settings[key] for key in settings if key.partition(".")[0] == "env"}
    with rlk.make(algorithm, **{**settings, "device": devices[0]}) as agent:
        agent.learn(STEPS)
        batch = gym.vector.utils.batch_space(agent.plan.observation_space, 8)
        batch.seed(7)
        seen = batch.sample()
        path, expected = agent.save(tmp_path / "model"), acted(agent, seen)
    with rlk.load(path, **world, device=devices[1]) as loaded:
        assert loaded.run.parameters.flat.device.type == devices[1]
        assert np.allclose(acted(loaded, seen), expected, atol=1e-4)
        loaded.learn(STEPS // 2, reset_num_timesteps=False)
        assert torch.isfinite(loaded.run.parameters.flat).all()
