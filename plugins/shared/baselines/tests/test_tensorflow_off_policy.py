"""DQN, SAC, TD3 and DDPG from files of Stable Baselines 2.10 compute the same outputs as there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models_there import (
    CART_SPACES,
    OF_DQN,
    OF_SAC,
    OF_TD3,
    PENDULUM_SPACES,
    saved,
)
from networks_there import (
    CARTPOLE,
    PENDULUM,
    dense,
    layers,
    normed,
    relu,
)

from rlk_baselines import DDPG, DQN, SAC, TD3
from rlk_testing.tools.stable_baselines_pickles import object_there


@pytest.mark.parametrize("is_normed", [False, True])
def test_a_dueling_dqn_and_its_target(tmp_path: Path, is_normed: bool) -> None:
    sizes: dict[str, tuple[int, ...]] = {"deepq/eps": ()}
    for network in ("deepq/model", "deepq/target_q_func/model"):
        for stream, outputs in (("action_value", 2), ("state_value", 1)):
            for layer, shape in (("", (4, 6)), ("_1", (6, 5)), ("_2", (5, outputs))):
                own = f"{network}/{stream}/fully_connected{layer}"
                sizes |= {f"{own}/weights": shape, f"{own}/biases": shape[1:]}
            if is_normed:
                for layer, size in (("", 6), ("_1", 5)):
                    own = f"{network}/{stream}/LayerNorm{layer}"
                    sizes |= {f"{own}/gamma": (size,), f"{own}/beta": (size,)}
    p = layers(sizes)
    where = f"stable_baselines.deepq.policies.{'LnMlpPolicy' if is_normed else 'MlpPolicy'}"
    kwargs = {"layers": [6, 5]}
    model = DQN.load(saved(tmp_path, OF_DQN, p, where, **CART_SPACES, policy_kwargs=kwargs))

    def q_values(network: str) -> Any:
        found = []
        for stream in ("action_value", "state_value"):
            x = CARTPOLE
            for layer in ("", "_1", "_2"):
                own = f"{network}/{stream}/fully_connected{layer}"
                x = x @ p[f"{own}/weights"] + p[f"{own}/biases"]
                if layer != "_2":
                    norm = f"{network}/{stream}/LayerNorm{layer}"
                    x = normed(x, p[f"{norm}/gamma"], p[f"{norm}/beta"]) if is_normed else x
                    x = relu(x)
            found.append(x)
        return found[1] + found[0] - found[0].mean(1, keepdims=True)

    _, q, _ = model.step_model.step(CARTPOLE)
    np.testing.assert_allclose(q, q_values("deepq/model"), rtol=1e-3, atol=1e-5)
    import torch

    target = model.agent.run.algorithm.target.module
    (of_target,) = target(torch.from_numpy(CARTPOLE), "qf")
    np.testing.assert_allclose(
        of_target.detach().numpy(), q_values("deepq/target_q_func/model"), rtol=1e-3, atol=1e-5
    )


def twin(outputs: tuple[str, ...], networks: tuple[str, ...] = ("model",)) -> dict[str, Any]:
    sizes: dict[str, tuple[int, ...]] = {}
    for network in networks:
        own = f"{network}/pi"
        sizes |= {f"{own}/fc0/kernel": (3, 6), f"{own}/fc0/bias": (6,)}
        for output in outputs:
            sizes |= {f"{own}/{output}/kernel": (6, 1), f"{own}/{output}/bias": (1,)}
        for critic in ("qf1", "qf2"):
            own = f"{network}/values_fn/{critic}"
            sizes |= {f"{own}/fc0/kernel": (4, 6), f"{own}/fc0/bias": (6,)}
            sizes |= {f"{own}/{critic}/kernel": (6, 1), f"{own}/{critic}/bias": (1,)}
    return layers(sizes)


def of_critics(p: Any, network: str, actions: Any) -> Any:
    x = np.concatenate((PENDULUM, actions), 1)
    found = []
    for critic in ("qf1", "qf2"):
        own = f"{network}/values_fn/{critic}"
        found.append(
            dense(relu(dense(x, p, f"{own}/fc0", False)), p, f"{own}/{critic}", False)[:, 0]
        )
    return np.stack(found)


def check_critics(module: Any, p: Any, network: str) -> None:
    import torch

    actions = np.array([[0.3], [-0.8]], np.float32)
    features = module.encode(torch.from_numpy(PENDULUM))
    found = module.qf(features, torch.from_numpy(actions)).detach().numpy()
    np.testing.assert_allclose(found, of_critics(p, network, actions), rtol=1e-4, atol=1e-5)


def test_sac_with_both_critics_and_its_entropys_weight(tmp_path: Path) -> None:
    p = twin(("dense", "dense_1")) | {"model/log_ent_coef": -0.7}
    where = "stable_baselines.sac.policies.MlpPolicy"
    path = saved(tmp_path, OF_SAC, p, where, **PENDULUM_SPACES, policy_kwargs={"layers": [6]})
    model = SAC.load(path)
    mean = dense(relu(dense(PENDULUM, p, "model/pi/fc0", False)), p, "model/pi/dense", False)
    actions, _ = model.predict(PENDULUM, deterministic=True)
    np.testing.assert_allclose(actions, 2 * np.tanh(mean), rtol=1e-4)
    check_critics(model.agent.run.policy, p, "model")
    check_critics(model.agent.run.algorithm.target.module, p, "model")
    assert model.get_parameters()["log_ent_coef"] == pytest.approx(-0.7)


def test_td3_with_its_targets(tmp_path: Path) -> None:
    p = twin(("dense",), ("model", "target"))
    where = "stable_baselines.td3.policies.MlpPolicy"
    noise = object_there("stable_baselines.common.noise.NormalActionNoise", _mu=np.zeros(1))
    own = {**PENDULUM_SPACES, "policy_kwargs": {"layers": [6]}, "action_noise": noise}
    path = saved(tmp_path, OF_TD3, p, where, **own)
    with pytest.warns(UserWarning, match=r"action_noise are functions or objects.*action_noise=…"):
        model = TD3.load(path, env="Pendulum-v1")
    for module, network in (
        (model.agent.run.policy, "model"),
        (model.agent.run.algorithm.target.module, "target"),
    ):
        check_critics(module, p, network)
        x = relu(dense(PENDULUM, p, f"{network}/pi/fc0", False))
        expected = np.tanh(dense(x, p, f"{network}/pi/dense", False))
        import torch

        features = module.encode(torch.from_numpy(PENDULUM))
        np.testing.assert_allclose(module.pi(features).detach().numpy(), expected, rtol=1e-4)
    model.learn(20)


def test_ddpg_acts_as_it_did_and_learns_its_critic_anew(tmp_path: Path) -> None:
    sizes: dict[str, tuple[int, ...]] = {}
    for network in ("model", "target"):
        sizes |= {f"{network}/pi/fc0/kernel": (3, 6), f"{network}/pi/fc0/bias": (6,)}
        sizes |= {f"{network}/pi/pi/kernel": (6, 1), f"{network}/pi/pi/bias": (1,)}
        sizes |= {f"{network}/qf/fc0/kernel": (3, 6), f"{network}/qf/qf_output/kernel": (7, 1)}
    p = layers(sizes)
    defaults = DDPG("MlpPolicy", "Pendulum-v1", _init_setup_model=False).defaults()
    settings = {name: value for name, value in defaults.items() if value is not None}
    settings = {k: v for k, v in settings.items() if "range" not in k and k[0] != "_"}
    settings |= {"observation_range": (-5.0, 5.0), "n_envs": 1, "n_cpu_tf_sess": 1}
    where = "stable_baselines.ddpg.policies.MlpPolicy"
    path = saved(tmp_path, settings, p, where, **PENDULUM_SPACES, policy_kwargs={"layers": [6]})
    with pytest.warns(UserWarning, match="critic of DDPG begins anew"):
        model = DDPG.load(path)
    x = relu(dense(PENDULUM, p, "model/pi/fc0", False))
    expected = 2 * np.tanh(dense(x, p, "model/pi/pi", False))
    actions, _ = model.predict(PENDULUM)
    np.testing.assert_allclose(actions, expected, rtol=1e-4, atol=1e-6)
    normalised = saved(tmp_path, settings, {**p, "input/obs_rms/runningsum": [0.0]}, where)
    with pytest.raises(ValueError, match="normalised by statistics in TensorFlow's graph"):
        DDPG.load(normalised, env="Pendulum-v1")
