"""Models of Stable Baselines 2.10 itself: files as it writes them, networks computed by hand."""

from __future__ import annotations

import base64
import io
import json
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files_there import box, discrete, object_there, packed, stand_in

from rlk.errors import BadFile
from rlk_baselines import A2C, ACER, DDPG, DQN, HER, PPO2, SAC, TD3, sb3
from rlk_baselines.common.policies import FeedForwardPolicy

RNG = np.random.default_rng(0)
CARTPOLE = np.array([[0.1, -0.2, 0.03, 0.4], [0.0, 0.3, -0.1, -0.2]], np.float32)
PENDULUM = np.array([[1.0, 0.0, 0.5], [-1.0, 0.0, -2.0]], np.float32)
OF_PPO2 = {
    "gamma": 0.9,
    "n_steps": 8,
    "vf_coef": 0.5,
    "ent_coef": 0.0,
    "max_grad_norm": 0.5,
    "learning_rate": 1e-3,
    "lam": 0.8,
    "nminibatches": 1,
    "noptepochs": 2,
    "cliprange": 0.1,
    "cliprange_vf": None,
    "verbose": 0,
    "n_envs": 1,
    "n_cpu_tf_sess": 1,
    "seed": None,
}
OF_A2C = {
    "gamma": 0.9,
    "n_steps": 5,
    "vf_coef": 0.25,
    "ent_coef": 0.0,
    "max_grad_norm": 0.5,
    "learning_rate": 7e-4,
    "alpha": 0.99,
    "momentum": 0.0,
    "epsilon": 1e-5,
    "n_envs": 1,
    "lr_schedule": "constant",
    "verbose": 0,
    "n_cpu_tf_sess": 1,
}
OF_DQN = {
    "gamma": 0.9,
    "learning_rate": 1e-3,
    "buffer_size": 100,
    "exploration_fraction": 0.1,
    "exploration_final_eps": 0.02,
    "exploration_initial_eps": 1.0,
    "train_freq": 1,
    "batch_size": 4,
    "double_q": True,
    "learning_starts": 8,
    "n_envs": 1,
    "n_cpu_tf_sess": 1,
    "target_network_update_freq": 5,
    "prioritized_replay": False,
    "verbose": 0,
    "prioritized_replay_alpha": 0.6,
    "prioritized_replay_beta0": 0.4,
    "param_noise": False,
}
OF_SAC = {
    "gamma": 0.9,
    "learning_rate": 1e-3,
    "buffer_size": 100,
    "learning_starts": 8,
    "train_freq": 1,
    "batch_size": 4,
    "tau": 0.005,
    "ent_coef": "auto",
    "n_envs": 1,
    "target_update_interval": 1,
    "gradient_steps": 1,
    "target_entropy": "auto",
    "verbose": 0,
    "action_noise": None,
    "random_exploration": 0.0,
    "n_cpu_tf_sess": 1,
}
OF_TD3 = {
    "gamma": 0.9,
    "learning_rate": 1e-3,
    "buffer_size": 100,
    "learning_starts": 8,
    "train_freq": 1,
    "gradient_steps": 1,
    "batch_size": 4,
    "tau": 0.005,
    "policy_delay": 2,
    "action_noise": None,
    "target_policy_noise": 0.2,
    "target_noise_clip": 0.5,
    "n_envs": 1,
    "random_exploration": 0.0,
    "verbose": 0,
    "n_cpu_tf_sess": 1,
}


def saved(
    folder: Path,
    settings: dict[str, Any],
    parameters: dict[str, Any],
    policy: str = "stable_baselines.common.policies.MlpPolicy",
    **more: Any,
) -> Path:
    """A file as Stable Baselines 2.10 writes it."""
    data = {**settings, "policy": object_there(policy), "policy_kwargs": {}, **more}
    arrays = {f"{name}:0": np.asarray(value, np.float32) for name, value in parameters.items()}
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    path = folder / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("parameters", packed.getvalue())
        archive.writestr("parameter_list", json.dumps(list(arrays)))
    return path


def layers(names: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    return {name: RNG.normal(size=shape) * 0.3 for name, shape in names.items()}


def dense(x: Any, parameters: Any, name: str, short: bool = True) -> Any:
    weight, bias = ("w", "b") if short else ("kernel", "bias")
    return x @ parameters[f"{name}/{weight}"] + parameters[f"{name}/{bias}"]


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def normed(x: Any, gain: Any, shift: Any, epsilon: float = 1e-5) -> Any:
    mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gain + shift


CART_SPACES = {"observation_space": box([-9.0] * 4, [9.0] * 4), "action_space": discrete(2)}
PENDULUM_SPACES = {
    "observation_space": box([-1, -1, -8], [1, 1, 8]),
    "action_space": box([-2.0], [2.0]),
}


def actor_critic() -> dict[str, Any]:
    return layers(
        {
            **{f"model/{role}_fc0/w": (4, 6) for role in ("pi", "vf")},
            **{f"model/{role}_fc0/b": (6,) for role in ("pi", "vf")},
            **{f"model/{role}_fc1/w": (6, 5) for role in ("pi", "vf")},
            **{f"model/{role}_fc1/b": (5,) for role in ("pi", "vf")},
            "model/vf/w": (5, 1),
            "model/vf/b": (1,),
            "model/pi/w": (5, 2),
            "model/pi/b": (2,),
            "model/q/w": (5, 2),
            "model/q/b": (2,),
        }
    )


def hidden(p: Any, role: str) -> Any:
    return np.tanh(dense(np.tanh(dense(CARTPOLE, p, f"model/{role}_fc0")), p, f"model/{role}_fc1"))


SIZES = {"policy_kwargs": {"net_arch": [{"pi": [6, 5], "vf": [6, 5]}]}}


def test_an_actor_critic_acts_and_judges_as_its_file_says(tmp_path: Path) -> None:
    p = actor_critic()
    model = PPO2.load(saved(tmp_path, OF_PPO2, p, **CART_SPACES, **SIZES))
    assert (model.gamma, model.n_steps, model.cliprange) == (0.9, 8, 0.1)
    assert model.policy == "MlpPolicy"
    likely = softmax(dense(hidden(p, "pi"), p, "model/pi"))
    np.testing.assert_allclose(model.action_probability(CARTPOLE), likely, rtol=1e-5)
    value = dense(hidden(p, "vf"), p, "model/vf")[:, 0]
    np.testing.assert_allclose(model.value(CARTPOLE), value, rtol=1e-4, atol=1e-6)


def test_it_learns_on_and_is_saved_as_any_other(tmp_path: Path) -> None:
    path = saved(tmp_path, OF_PPO2, actor_critic(), **CART_SPACES, **SIZES)
    model = PPO2.load(str(path).removesuffix(".zip"), env="CartPole-v1", gamma=0.95)
    model.learn(16)
    model.save(tmp_path / "ours")
    again = PPO2.load(tmp_path / "ours")
    assert again.gamma == 0.95
    np.testing.assert_array_equal(
        again.action_probability(CARTPOLE), model.action_probability(CARTPOLE)
    )
    with path.open("rb") as file:
        assert PPO2.load(file).gamma == 0.9
    again.load_parameters(path)
    np.testing.assert_array_equal(
        again.action_probability(CARTPOLE), PPO2.load(path).action_probability(CARTPOLE)
    )


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


def convolved(x: Any, kernel: Any, bias: Any, stride: int) -> Any:
    """Images [B, H, W, C], kernels [h, w, C, F]: sums over patches, as TensorFlow lays them out."""
    size = kernel.shape[0]
    out = (x.shape[1] - size) // stride + 1
    found = np.zeros((len(x), out, out, kernel.shape[3]))
    for i in range(out):
        for j in range(out):
            top, left = i * stride, j * stride
            patch = x[:, top : top + size, left : left + size]
            found[:, i, j] = np.tensordot(patch, kernel, 3) + bias
    return relu(found)


def seen(images: Any, p: Any, scope: str) -> Any:
    """What the Nature CNN of Stable Baselines makes of images."""
    x = images / 255.0
    for number, stride in ((1, 4), (2, 2), (3, 1)):
        bias = p[f"{scope}/c{number}/b"].reshape(-1)
        x = convolved(x, p[f"{scope}/c{number}/w"], bias, stride)
    return relu(dense(x.reshape(len(x), -1), p, f"{scope}/fc1"))


def cnn(scope: str) -> dict[str, tuple[int, ...]]:
    """For images of 44x44, of which 2x2 are left."""
    return {
        f"{scope}/c1/w": (8, 8, 2, 32),
        f"{scope}/c1/b": (1, 32, 1, 1),
        f"{scope}/c2/w": (4, 4, 32, 64),
        f"{scope}/c2/b": (1, 64, 1, 1),
        f"{scope}/c3/w": (3, 3, 64, 64),
        f"{scope}/c3/b": (1, 64, 1, 1),
        f"{scope}/fc1/w": (256, 512),
        f"{scope}/fc1/b": (512,),
    }


def image_space() -> dict[str, str]:
    low, high = np.zeros((44, 44, 2), np.uint8), np.full((44, 44, 2), 255, np.uint8)
    return object_there(
        "gym.spaces.box.Box", low=low, high=high, shape=low.shape, dtype=np.dtype(np.uint8)
    )


def test_a_cnn_sees_what_it_saw_there(tmp_path: Path) -> None:
    sizes = cnn("model") | {"model/pi/w": (512, 3), "model/pi/b": (3,)}
    p = layers(sizes | {"model/vf/w": (512, 1), "model/vf/b": (1,)})
    p = {name: value * 0.2 for name, value in p.items()}
    where = "stable_baselines.common.policies.CnnPolicy"
    spaces = {"observation_space": image_space(), "action_space": discrete(3)}
    model = PPO2.load(saved(tmp_path, OF_PPO2, p, where, **spaces))
    images = RNG.integers(0, 256, (2, 44, 44, 2), np.uint8)
    features = seen(images, p, "model")
    assert features.any()
    np.testing.assert_allclose(
        model.value(images), dense(features, p, "model/vf")[:, 0], rtol=1e-3, atol=1e-5
    )


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


def test_a_file_of_cloudpickle_is_read_as_well(tmp_path: Path) -> None:
    p = actor_critic()
    arrays = OrderedDict((f"{name}:0", value.astype(np.float32)) for name, value in p.items())
    data = {**OF_PPO2, "policy": A2C, "policy_kwargs": SIZES["policy_kwargs"]}
    pickled = pickle.dumps((data, arrays), protocol=3)
    named = b"cstable_baselines.common.policies\nMlpPolicy\n"
    path = tmp_path / "old.pkl"
    path.write_bytes(pickled.replace(b"crlk_baselines.a2c.a2c\nA2C\n", named))
    model = PPO2.load(path, env="CartPole-v1")
    likely = softmax(dense(hidden(p, "pi"), p, "model/pi"))
    np.testing.assert_allclose(model.action_probability(CARTPOLE), likely, rtol=1e-5)
    path.write_bytes(pickle.dumps((data, list(arrays.values()))))
    with pytest.raises(BadFile, match=r"no names: it is of a release before 2\.5"):
        PPO2.load(path)


class Runs:
    def __reduce__(self) -> Any:
        return (print, ("this must not run",))


def test_nothing_in_a_file_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = {":serialized:": base64.b64encode(pickle.dumps(Runs())).decode()}
    own = {**OF_PPO2, "learning_rate": code}
    path = saved(tmp_path, own, actor_critic(), **CART_SPACES, **SIZES)
    with pytest.warns(UserWarning, match=r"learning_rate are functions or objects"):
        model = PPO2.load(path)
    assert model.learning_rate == 2.5e-4, "the default"
    assert "must not run" not in capsys.readouterr().out


class Mine(FeedForwardPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, feature_extraction="mlp")


def test_what_does_not_fit_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = saved(tmp_path, OF_PPO2, actor_critic(), "train.Mine", **CART_SPACES, **SIZES)
    with pytest.raises(ValueError, match=r"class of a program, .* PPO2.load\(.*, policy=…\)"):
        PPO2.load(path)
    assert PPO2.load(path, policy=Mine).gamma == 0.9
    for other in (A2C, sb3.A2C):
        with pytest.raises(ValueError, match=r"PPO2, not of A2C. Write rlk_baselines.PPO2.load\("):
            other.load(path)
    with pytest.raises(ValueError, match="model of HER in Stable Baselines, which is not loaded"):
        HER.load(saved(tmp_path, {**OF_DQN, "model_class": "DQN"}, {}, **CART_SPACES))
    path = saved(tmp_path, OF_PPO2, actor_critic(), "train.Mine", **CART_SPACES, **SIZES)
    with pytest.raises(ValueError, match=r"spaces in .* cannot be read: pass an environment"):
        PPO2.load(saved(tmp_path, OF_PPO2, actor_critic(), **SIZES))
    small = saved(tmp_path, OF_PPO2, actor_critic(), **CART_SPACES)
    with pytest.raises(ValueError, match=r"has the shape \[4, 64\], in the file \[4, 6\]"):
        PPO2.load(small)
    lacking = {name: value for name, value in actor_critic().items() if name != "model/vf/b"}
    with pytest.raises(ValueError, match=r"no parameter 'model/vf/b', of which model/vf/out/bias"):
        PPO2.load(saved(tmp_path, OF_PPO2, lacking, **CART_SPACES, **SIZES))
    with zipfile.ZipFile(path, "w") as archive:
        for entry in ("data", "parameters", "parameter_list"):
            archive.writestr(entry, "no json")
    with pytest.raises(BadFile, match="is damaged"):
        PPO2.load(path)
