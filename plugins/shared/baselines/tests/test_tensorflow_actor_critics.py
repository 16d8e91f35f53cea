"""Actor-critics from files of Stable Baselines 2.10 compute the same outputs as there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from models_there import (
    CART_SPACES,
    OF_A2C,
    OF_PPO2,
    PENDULUM_SPACES,
    saved,
)
from networks_there import (
    CARTPOLE,
    PENDULUM,
    SIZES,
    actor_critic,
    cnn,
    dense,
    hidden,
    layers,
    normed,
    relu,
    seen,
    sigmoid,
    softmax,
)

from rlk_baselines import A2C, ACER, PPO2
from rlk_testing.tools.stable_baselines_pickles import discrete, image_box, packed, stand_in


def test_an_actor_critic_acts_and_judges_as_its_file_says(tmp_path: Path) -> None:
    p = actor_critic()
    model = PPO2.load(saved(tmp_path, OF_PPO2, p, **CART_SPACES, **SIZES))
    assert (model.gamma, model.n_steps, model.cliprange) == (0.9, 8, 0.1)
    assert model.policy.__name__ == "MlpPolicy"
    likely = softmax(dense(hidden(p, "pi"), p, "model/pi"))
    np.testing.assert_allclose(model.action_probability(CARTPOLE), likely, rtol=1e-5)
    value = dense(hidden(p, "vf"), p, "model/vf")[:, 0]
    np.testing.assert_allclose(model.value(CARTPOLE), value, rtol=1e-4, atol=1e-6)


def test_the_value_of_acer_is_of_its_q_values(tmp_path: Path) -> None:
    own = {"q_coef": 0.5, "rprop_alpha": 0.99, "rprop_epsilon": 1e-5, "buffer_size": 50}
    own |= {"replay_ratio": 4, "replay_start": 10, "correction_term": 10.0, "trust_region": True}
    p = actor_critic()
    model = ACER.load(
        saved(tmp_path, {**OF_A2C, **own, "delta": 1, "alpha": 0.99}, p, **CART_SPACES, **SIZES)
    )
    likely, q = (
        softmax(dense(hidden(p, "pi"), p, "model/pi")),
        dense(hidden(p, "vf"), p, "model/q"),
    )
    np.testing.assert_allclose(model.value(CARTPOLE), (likely * q).sum(1), rtol=1e-4, atol=1e-6)


def test_shared_layers_and_deviations_of_a_gaussian_policy(tmp_path: Path) -> None:
    p = layers(
        {
            "model/shared_fc0/w": (3, 7),
            "model/shared_fc0/b": (7,),
            "model/pi_fc0/w": (7, 5),
            "model/pi_fc0/b": (5,),
            "model/vf/w": (7, 1),
            "model/vf/b": (1,),
            "model/pi/w": (5, 1),
            "model/pi/b": (1,),
            "model/pi/logstd": (1, 1),
            "model/q/w": (7, 1),
            "model/q/b": (1,),
        }
    )
    with stand_in("tensorflow.python.ops.gen_nn_ops.relu") as activation:
        kwargs = packed({"net_arch": [7, {"pi": [5]}], "act_fun": activation})
    model = A2C.load(saved(tmp_path, OF_A2C, p, **PENDULUM_SPACES, policy_kwargs=kwargs))
    assert model.policy_kwargs["act_fun"] == "relu"
    shared = relu(dense(PENDULUM, p, "model/shared_fc0"))
    mean, deviation = model.action_probability(PENDULUM)
    expected = dense(relu(dense(shared, p, "model/pi_fc0")), p, "model/pi")
    np.testing.assert_allclose(mean, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(deviation, np.exp(p["model/pi/logstd"])[[0, 0]], rtol=1e-5)
    np.testing.assert_allclose(model.value(PENDULUM), dense(shared, p, "model/vf")[:, 0], rtol=1e-4)


@pytest.mark.parametrize("policy", ["MlpLstmPolicy", "MlpLnLstmPolicy"])
def test_an_lstm_by_the_formulas_of_stable_baselines(tmp_path: Path, policy: str) -> None:
    sizes: dict[str, tuple[int, ...]] = {"model/pi_fc0/w": (4, 5), "model/pi_fc0/b": (5,)}
    sizes |= {"model/lstm1/wx": (5, 12), "model/lstm1/wh": (3, 12), "model/lstm1/b": (12,)}
    is_normed = "Ln" in policy
    if is_normed:
        sizes |= {f"model/lstm1/{name}": (12,) for name in ("gx", "bx", "gh", "bh")}
        sizes |= {"model/lstm1/gc": (3,), "model/lstm1/bc": (3,)}
    sizes |= {"model/vf/w": (3, 1), "model/vf/b": (1,), "model/pi/w": (3, 2), "model/pi/b": (2,)}
    p = layers(sizes)
    where = f"stable_baselines.common.policies.{policy}"
    kwargs = {"layers": [5], "n_lstm": 3}
    model = A2C.load(saved(tmp_path, OF_A2C, p, where, **CART_SPACES, policy_kwargs=kwargs))
    one = {name.removeprefix("model/lstm1/"): value for name, value in p.items()}
    x, cell, shown = np.tanh(dense(CARTPOLE, p, "model/pi_fc0")), np.zeros((2, 3)), np.zeros((2, 3))
    state = None
    for _ in range(3):
        from_x, from_h = x @ one["wx"], shown @ one["wh"]
        if is_normed:
            from_x = normed(from_x, one["gx"], one["bx"])
            from_h = normed(from_h, one["gh"], one["bh"])
        i, f, o, g = np.split(from_x + from_h + one["b"], 4, axis=1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        seen = normed(cell, one["gc"], one["bc"]) if is_normed else cell
        shown = sigmoid(o) * np.tanh(seen)
        _, values, after, _ = model.step(CARTPOLE, state, [state is None] * 2)
        likely = model.proba_step(CARTPOLE, state, [state is None] * 2)
        np.testing.assert_allclose(likely, softmax(dense(shown, p, "model/pi")), rtol=1e-4)
        np.testing.assert_allclose(values, dense(shown, p, "model/vf")[:, 0], rtol=1e-3, atol=1e-5)
        state = after


def test_a_cnn_sees_what_it_saw_there(tmp_path: Path) -> None:
    sizes = cnn("model") | {"model/pi/w": (512, 3), "model/pi/b": (3,)}
    p = layers(sizes | {"model/vf/w": (512, 1), "model/vf/b": (1,)})
    p = {name: value * 0.2 for name, value in p.items()}
    where = "stable_baselines.common.policies.CnnPolicy"
    spaces = {
        "observation_space": image_box("gym.spaces.box.Box", (44, 44, 2)),
        "action_space": discrete(3),
    }
    model = PPO2.load(saved(tmp_path, OF_PPO2, p, where, **spaces))
    images = np.random.default_rng(1).integers(0, 256, (2, 44, 44, 2), np.uint8)
    features = seen(images, p, "model")
    assert features.any()
    np.testing.assert_allclose(
        model.value(images), dense(features, p, "model/vf")[:, 0], rtol=1e-3, atol=1e-5
    )
