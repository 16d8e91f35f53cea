"""Every policy, distribution and family of algorithms acts alike in a file and in rlk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from shown_spaces import FAR, IMAGE, KEYS, Shows, loaded_pt2, run_onnx, shown

from rlk_export import export
from rlk_testing.environments import BY_ACTION_SPACE, BY_SPACE_OF_SEVERAL_AXES

DISCRETE, BOX = BY_ACTION_SPACE["Discrete"], BY_ACTION_SPACE["Box"]
SEVERAL = BY_SPACE_OF_SEVERAL_AXES
SMALL = {"policy": {"layers": [8]}}
CNN = {"cnn": {"features": 8}}
IMAGES = {"feature_extraction": "cnn", "features": 8}
NARROW = spaces.Box(-0.01, 0.02, (2,), np.float64)
#: name -> (algorithm, settings), each with another kind of action or observation. Those whose name
#: begins with + go through ONNX, whose exporter takes what torch.export has traced.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "+diag-gaussian": ("a2c", {"env": SEVERAL["Box"], **SMALL}),
    "diag-gaussian, narrow, float64": ("ppo2", {"env": Shows(action=NARROW), **SMALL}),
    "+multi-categorical": ("trpo", {"env": SEVERAL["MultiDiscrete"], **SMALL}),
    "+bernoulli": ("ppo1", {"env": SEVERAL["MultiBinary"], **SMALL}),
    "beta": ("ppo2", {"env": BOX, "distribution": "beta", **SMALL}),
    "gsde": ("ppo", {"env": BOX, "use_sde": True, **SMALL}),
    "+gsde squashed": ("sac", {"env": BOX, "use_sde": True, **SMALL}),
    "squashed-gaussian": ("sac", {"env": SEVERAL["Box"], **SMALL}),
    "deterministic": ("td3", {"env": BOX, **SMALL}),
    "param-noise": ("ddpg", {"env": BOX, "plugins": ["param-noise"], **SMALL}),
    "dueling, a whole number": (
        "dqn",
        {"env": Shows(spaces.Discrete(5, start=2)), "policy": "LnMlpPolicy"},
    ),
    "acktr, whole numbers": (
        "acktr",
        {"env": Shows(spaces.MultiDiscrete([3, 4], start=[1, -2])), **SMALL},
    ),
    "acer, switches": ("acer", {"env": Shows(spaces.MultiBinary(4)), **SMALL}),
    "shared layers, bytes": (
        "a2c",
        {
            "env": Shows(spaces.Box(0, 255, (16,), np.uint8)),
            "policy": {"net_arch": [8, {"pi": [4]}], "act_fun": "silu"},
        },
    ),
    "+cnn": ("dqn", {"env": Shows(IMAGE), "policy": "cnn", **CNN}),
    "cnn first": (
        "ppo2",
        {"env": Shows(spaces.Box(-1.0, 3.0, (2, 36, 36), np.float64)), "policy": "cnn", **CNN},
    ),
    "multi-input": (
        "ppo2",
        {"env": Shows(KEYS), "policy": "multi-input", "multi-input": {"features": 8}},
    ),
    "nested": (
        "ppo2",
        {"env": Shows(spaces.Tuple((spaces.Discrete(3), KEYS["a b"]))), "policy": "multi-input"},
    ),
    "masks": (
        "ppo2",
        {"env": "rlk_testing.environments:MaskedGame", "plugins": ["action-masking"]},
    ),
}
RECURRENT: dict[str, tuple[str, dict[str, Any]]] = {
    "lstm": ("ppo2", {"env": BOX, "policy": "lstm", "lstm": {"n_lstm": 4}}),
    "+ln-lstm": ("a2c", {"env": DISCRETE, "policy": "ln-lstm", "ln-lstm": {"n_lstm": 4}}),
    "lstm, gsde": ("ppo", {"env": BOX, "policy": "lstm", "use_sde": True}),
    "+multi-input-lstm": (
        "ppo2",
        {"env": Shows(KEYS), "policy": "multi-input-lstm", "multi-input-lstm": {"features": 8}},
    ),
    "cnn-lstm": ("ppo2", {"env": Shows(IMAGE), "policy": "lstm", "lstm": {**IMAGES, "n_lstm": 4}}),
}


def feeds(exported: Any, observation: Any, *others: Any) -> dict[str, Any]:
    """Inputs by name, as the file's own metadata names them."""
    inputs = exported.signature.inputs
    parts = [
        observation if port.key is None else observation[port.key]
        for port in inputs[: len(inputs) - len(others)]
    ]
    return dict(zip([port.name for port in inputs], [*parts, *others], strict=True))


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("+")])
def test_a_program_of_torch_acts_as_the_agent(agent_of, tmp_path, name):
    algo, settings = CASES[name]
    agent = agent_of(algo, **settings)
    run = loaded_pt2(export(agent, tmp_path / "policy.pt2").path)
    for size in (1, 7):
        observation = shown(agent.plan.observation_space, size)
        check_action(agent, run(observation)["action"], observation)


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("+")])
def test_an_onnx_acts_as_the_agent(agent_of, tmp_path, name):
    algo, settings = CASES[name]
    agent = agent_of(algo, **settings)
    exported = export(agent, tmp_path / "policy.onnx")
    assert exported.evaluator == "onnxruntime"
    for size, reference in ((1, True), (7, False)):
        observation = shown(agent.plan.observation_space, size)
        found = run_onnx(exported.path, feeds(exported, observation), reference)["action"]
        check_action(agent, found, observation)


def test_sampled_masks_may_allow_nothing(agent_of, tmp_path):
    algo, settings = CASES["masks"]
    agent = agent_of(algo, **settings, **{"env.action": "MultiBinary"})
    assert export(agent, tmp_path / "policy.pt2").path.is_file()


def check_action(agent: Any, found: Any, observation: Any) -> None:
    expected, _ = agent.predict(observation, deterministic=True)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert all(agent.plan.action_space.contains(one) for one in found)


@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrent_policy_has_its_state_going_in_and_out(agent_of, tmp_path, name):
    algo, settings = RECURRENT[name]
    on = {"nminibatches": 1} if algo == "ppo2" else {}
    agent = agent_of(algo, **settings, **on)
    is_onnx = name.startswith("+")
    exported = export(agent, tmp_path / f"policy{'.onnx' if is_onnx else '.pt2'}")
    size = exported.signature.inputs[-2].shape[1]
    state, carry = np.zeros((2, size), np.float32), None
    starts = np.array([[True, True], [False, True], [False, False]])
    run = None if is_onnx else loaded_pt2(exported.path)
    for step, start in enumerate(starts):
        observation = shown(agent.plan.observation_space, 2, seed=step)
        expected, carry = agent.predict(observation, carry, start, deterministic=True)
        if run is None:
            found = run_onnx(exported.path, feeds(exported, observation, state, start))
        else:
            found = run(observation, state, start)
        np.testing.assert_allclose(found["action"], expected, rtol=1e-4, atol=1e-6)
        state = found["next_state"]
    after = carry["carry"] if isinstance(carry, dict) else carry
    np.testing.assert_allclose(state, after, rtol=1e-4, atol=1e-6)
    assert np.abs(state).max() > 0


NORMALISED: dict[str, tuple[str, dict[str, Any]]] = {
    "normalize": ("ppo2", {"n_steps": 16, "nminibatches": 1, "plugins": ["normalize"]}),
    "observation-statistics": (
        "ddpg",
        {"normalize_observations": True, "nb_rollout_steps": 16, "batch_size": 8},
    ),
}


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("normalize", ".pt2"), ("normalize", ".onnx"), ("observation-statistics", ".pt2")],
)
def test_statistics_of_training_are_in_the_program(agent_of, tmp_path, name, suffix):
    algo, settings = NORMALISED[name]
    env = Shows(FAR, spaces.Box(-1.0, 1.0, (1,), np.float32))
    agent = agent_of(algo, learn=48, env=env, **SMALL, **settings)
    (statistics,) = (one for one in agent.run.policy.filters if hasattr(one, "refresh"))
    assert statistics.mean[0] > 90  # what is seen lies there
    exported = export(agent, tmp_path / f"policy{suffix}")
    assert exported.signature.inputs[0].dtype == "float64"  # as the environment gives them
    observation = shown(FAR, 5)
    expected, _ = agent.predict(observation, deterministic=True)
    if suffix == ".onnx":
        found = run_onnx(exported.path, {"observation": observation})["action"]
    else:
        found = loaded_pt2(exported.path)(observation)["action"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert np.ptp(found) > 0  # normalised, observations are told apart
