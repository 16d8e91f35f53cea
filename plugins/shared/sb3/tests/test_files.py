"""Files of Stable-Baselines3: files as it writes them, with networks built directly in torch."""

from __future__ import annotations

import io
import pickle
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import rlk_baselines
from rlk.errors import BadFile
from rlk_sb3 import A2C, DDPG, DQN, PPO, SAC, TD3
from rlk_testing.tools.sb3_model_files import (
    CART,
    OF_A2C,
    OF_DQN,
    OF_PPO,
    OF_SAC,
    OF_TD3,
    PENDULUM,
    SIZES,
    SWING,
    Seen,
    actor_critic,
    close,
    critics,
    dict_there,
    image_of,
    mlp,
    saved,
)
from rlk_testing.tools.stable_baselines_pickles import box, discrete, image_box, packed, stand_in

CARTPOLE = torch.tensor([[0.1, -0.2, 0.03, 0.4], [0.0, 0.3, -0.1, -0.2]])


def test_an_actor_critic_acts_and_judges_as_its_file_says(tmp_path: Path) -> None:
    n = actor_critic(4, 2)
    path = saved(tmp_path, "common.policies.ActorCriticPolicy", OF_PPO, n, **CART, **SIZES)
    model = PPO.load(path, env="CartPole-v1")
    assert (model.gamma, model.n_steps, model.clip_range) == (0.9, 8, 0.1)
    logits = n["action_net"](n["mlp_extractor.policy_net"](CARTPOLE))
    close(model.action_probability(CARTPOLE.numpy()), logits.softmax(1))
    value = n["value_net"](n["mlp_extractor.value_net"](CARTPOLE))[:, 0]
    close(model.policy(CARTPOLE, "vf")[0][:, 0].detach(), value)
    model.learn(8)
    model.save(tmp_path / "ours")
    again = PPO.load(tmp_path / "ours")
    assert again.gamma == 0.9
    again.set_parameters(str(path))
    close(again.policy(CARTPOLE, "vf")[0][:, 0].detach(), value)


def test_layers_that_are_shared_and_an_activation(tmp_path: Path) -> None:
    n = {
        "mlp_extractor.shared_net": mlp(3, 8, activation=nn.ReLU, ends=True),
        "mlp_extractor.policy_net": mlp(8, 5, activation=nn.ReLU, ends=True),
        "action_net": nn.Linear(5, 1),
        "value_net": nn.Linear(8, 1),
        "log_std": torch.tensor([-0.3]),
    }
    with stand_in("torch.nn.modules.activation.ReLU") as activation:
        kwargs = packed(
            {
                "net_arch": [8, {"pi": [5]}],
                "activation_fn": activation,
                "optimizer_kwargs": {"eps": 1e-5},
                "log_std_init": -2,
            }
        )
    own = {**SWING, "policy_kwargs": kwargs, "gae_lambda": 0.9}
    path = saved(tmp_path, "common.policies.ActorCriticPolicy", OF_A2C, n, **own)
    model = A2C.load(path)
    assert model.gae_lambda == model.agent.plan.algorithm.config.gae_lambda == 0.9
    shared = n["mlp_extractor.shared_net"](PENDULUM)
    mean, deviation = model.action_probability(PENDULUM.numpy())
    close(mean, n["action_net"](n["mlp_extractor.policy_net"](shared)))
    close(deviation, torch.tensor([[-0.3], [-0.3]]).exp())
    close(model.policy(PENDULUM, "vf")[0].detach(), n["value_net"](shared))


def test_dqn_with_a_cnn_and_its_target(tmp_path: Path) -> None:
    images = image_box("gymnasium.spaces.box.Box", (2, 44, 44))
    n: dict[str, Any] = {}
    for network in ("q_net", "q_net_target"):
        n[f"{network}.features_extractor"] = Seen()
        n[f"{network}.q_net"] = nn.Sequential(nn.Linear(512, 3))
    with torch.no_grad():
        n["q_net_target.features_extractor"].cnn[0].weight *= 0.5
    spaces = {"observation_space": images, "action_space": discrete(3)}
    model = DQN.load(saved(tmp_path, "dqn.policies.CnnPolicy", OF_DQN, n, **spaces))
    seen = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (2, 2, 44, 44), np.uint8))
    algorithm = model.agent.run.algorithm
    for module, network in ((algorithm.policy, "q_net"), (algorithm.target.module, "q_net_target")):
        (found,) = module(seen, "qf")
        expected = n[f"{network}.q_net"](n[f"{network}.features_extractor"](seen.float()))
        close(found.detach(), expected)


def test_every_image_of_a_dict_has_its_own_cnn(tmp_path: Path) -> None:
    cnns = {"far": Seen(1, 256), "near": Seen(3, 256)}
    n: dict[str, Any] = {
        f"q_net{suffix}.features_extractor.extractors": nn.ModuleDict(cnns)
        for suffix in ("", "_target")
    }
    head = nn.Sequential(nn.Linear(256 + 2 + 256, 3))
    n |= {"q_net.q_net": head, "q_net_target.q_net": head}
    parts = {"far": image_of(1), "middle": ([-1, -1], [1, 1], np.float32), "near": image_of(3)}
    own = {"observation_space": dict_there(parts), "action_space": discrete(3)}
    own |= {"policy_kwargs": {"net_arch": []}}
    model = DQN.load(saved(tmp_path, "dqn.policies.MultiInputPolicy", OF_DQN, n, **own))
    rng = np.random.default_rng(0)
    images = {
        key: rng.integers(0, 256, (2, *cnn.cnn[0].weight.shape[1:2], 44, 44), np.uint8)
        for key, cnn in cnns.items()
    }
    middle = np.array([[0.5, -0.5], [1.0, 0.0]], np.float32)
    far, near = (cnns[key](torch.from_numpy(images[key]).float()) for key in ("far", "near"))
    expected = head(torch.cat((far, torch.from_numpy(middle), near), 1))
    (found,) = model.agent.run.policy(
        {"middle": torch.from_numpy(middle), **{k: torch.from_numpy(v) for k, v in images.items()}},
        "qf",
    )
    close(found.detach(), expected)


def check_critics(model: Any, n: dict[str, Any]) -> None:
    actions = torch.tensor([[0.3], [-0.8]])
    algorithm = model.agent.run.algorithm
    for module, suffix in ((algorithm.policy, ""), (algorithm.target.module, "_target")):
        found = module.qf(module.encode(PENDULUM), actions)
        x = torch.cat((PENDULUM, actions), 1)
        expected = [one(x) for name, one in n.items() if name.startswith(f"critic{suffix}.qf")]
        close(found.detach(), torch.stack(expected)[..., 0])


def test_sac_and_its_entropys_weight(tmp_path: Path) -> None:
    n = critics() | {
        "actor.latent_pi": mlp(3, 6, 5, activation=nn.ReLU, ends=True),
        "actor.mu": nn.Linear(5, 1),
        "actor.log_std": nn.Linear(5, 1),
    }
    own = {**SWING, "policy_kwargs": {"net_arch": [6, 5]}}
    variables = {"log_ent_coef": torch.tensor([-0.7])}
    model = SAC.load(saved(tmp_path, "sac.policies.SACPolicy", OF_SAC, n, variables, **own))
    mean = n["actor.mu"](n["actor.latent_pi"](PENDULUM))
    close(model.predict(PENDULUM.numpy(), deterministic=True)[0], 2 * mean.tanh())
    check_critics(model, n)
    assert model.agent.get_parameters()["log_ent_coef"] == pytest.approx(-0.7)
    fixed = saved(tmp_path, "sac.policies.SACPolicy", OF_SAC | {"ent_coef": 0.1}, n, **own)
    assert SAC.load(fixed).ent_coef == 0.1


def test_state_dependent_exploration_of_a2c(tmp_path: Path) -> None:
    n = actor_critic(3, 1) | {"log_std": torch.full((5, 1), -1.5)}
    own = {**SWING, **SIZES}
    settings = OF_A2C | {"use_sde": True, "sde_sample_freq": 8}
    model = A2C.load(saved(tmp_path, "common.policies.ActorCriticPolicy", settings, n, **own))
    config = model.agent.plan.distribution.config
    assert (model.agent.plan.distribution.name, config.sample_freq) == ("gsde", 8)
    features = n["mlp_extractor.policy_net"](PENDULUM)
    mean, deviation = model.action_probability(PENDULUM.numpy())
    close(mean, n["action_net"](features))
    variance = features.square() @ torch.full((5, 1), -1.5).exp().square()
    close(deviation, (variance + 1e-6).sqrt())


def test_state_dependent_exploration_of_sac(tmp_path: Path) -> None:
    n = critics() | {
        "actor.latent_pi": mlp(3, 6, 5, activation=nn.ReLU, ends=True),
        "actor.mu": nn.Sequential(nn.Linear(5, 1), nn.Hardtanh(-2, 2)),
        "actor.log_std": torch.full((5, 1), -2.5),
    }
    own = {**SWING, "policy_kwargs": {"net_arch": [6, 5], "use_sde": True, "log_std_init": -3}}
    variables = {"log_ent_coef": torch.tensor([0.0])}
    settings = OF_SAC | {"use_sde": True}
    model = SAC.load(saved(tmp_path, "sac.policies.SACPolicy", settings, n, variables, **own))
    mean = n["actor.mu"](n["actor.latent_pi"](PENDULUM))
    close(model.predict(PENDULUM.numpy(), deterministic=True)[0], 2 * mean.tanh())
    assert (model.agent.get_parameters()["model/pi/out/log_std"] == -2.5).all()


@pytest.mark.parametrize("clip_mean", [0.05, 0.0, -1.0])
def test_how_state_dependent_exploration_of_sac_clips_means(
    tmp_path: Path, clip_mean: float
) -> None:
    torch.manual_seed(2)
    layer = nn.Linear(5, 1)
    n = critics() | {
        "actor.latent_pi": mlp(3, 6, 5, activation=nn.ReLU, ends=True),
        "actor.mu": layer if clip_mean <= 0 else nn.Sequential(layer, nn.Hardtanh(-0.05, 0.05)),
        "actor.log_std": torch.full((5, 1), -2.5),
    }
    own = {**SWING, "policy_kwargs": {"net_arch": [6, 5], "clip_mean": clip_mean}}
    variables = {"log_ent_coef": torch.tensor([0.0])}
    settings = OF_SAC | {"use_sde": True}
    model = SAC.load(saved(tmp_path, "sac.policies.SACPolicy", settings, n, variables, **own))
    mean = n["actor.mu"](n["actor.latent_pi"](PENDULUM))
    close(model.predict(PENDULUM.numpy(), deterministic=True)[0], 2 * mean.tanh())


def test_state_dependent_exploration_with_one_deviation_for_every_feature(tmp_path: Path) -> None:
    n = actor_critic(3, 1) | {"log_std": torch.full((5, 1), -1.5)}
    two = box([-2.0, -2.0], [2.0, 2.0])
    n["action_net"] = nn.Linear(5, 2)
    kwargs = {"policy_kwargs": {**SIZES["policy_kwargs"], "full_std": False}}
    own = {**SWING, "action_space": two, **kwargs}
    settings = OF_A2C | {"use_sde": True}
    model = A2C.load(saved(tmp_path, "common.policies.ActorCriticPolicy", settings, n, **own))
    mean, _ = model.action_probability(PENDULUM.numpy())
    close(mean, n["action_net"](n["mlp_extractor.policy_net"](PENDULUM)))
    assert model.agent.get_parameters()["model/pi/out/log_std"].shape == (5, 1)


@pytest.mark.parametrize(("kind", "n_critics"), [(TD3, 2), (TD3, 3), (DDPG, 1)])
def test_a_deterministic_policy_with_its_targets(tmp_path: Path, kind: Any, n_critics: int) -> None:
    n = critics(n_critics=n_critics) | {
        f"actor{suffix}.mu": nn.Sequential(*mlp(3, 6, 5, 1, activation=nn.ReLU), nn.Tanh())
        for suffix in ("", "_target")
    }
    settings = OF_TD3
    if kind is DDPG:
        settings = OF_TD3 | {"policy_delay": 1, "target_noise_clip": 0.0}
    own = {**SWING, "policy_kwargs": {"net_arch": [6, 5], "n_critics": n_critics}}
    model = kind.load(saved(tmp_path, "td3.policies.TD3Policy", settings, n, **own))
    close(model.predict(PENDULUM.numpy())[0], 2 * n["actor.mu"](PENDULUM))
    check_critics(model, n)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(4, (4, "step")), (-1, (2, "episode")), (("episode", 3), (3, "episode"))],
)
def test_how_often_it_learns(tmp_path: Path, given: Any, expected: Any) -> None:
    if isinstance(given, tuple):
        unit, count = given
        with (
            stand_in("stable_baselines3.common.type_aliases.TrainFreq") as made,
            stand_in("stable_baselines3.common.type_aliases.TrainFrequencyUnit") as units,
        ):
            made.__getnewargs__ = lambda _: (count, one)  # type: ignore[attr-defined]
            units.__getnewargs__ = lambda _: (unit,)  # type: ignore[attr-defined]
            one = units()
            given = packed(made())
    n: dict[str, Any] = {"q_net.q_net": mlp(4, 6, 2), "q_net_target.q_net": mlp(4, 6, 2)}
    own = {**CART, "policy_kwargs": {"net_arch": [6]}, "n_episodes_rollout": 2}
    path = saved(tmp_path, "dqn.policies.DQNPolicy", OF_DQN | {"train_freq": given}, n, **own)
    assert DQN.load(path).train_freq == expected


def test_what_does_not_fit_is_refused_with_what_to_do(tmp_path: Path) -> None:
    n = actor_critic(4, 2)
    path = saved(tmp_path, "common.policies.ActorCriticPolicy", OF_PPO, n, **CART, **SIZES)
    with pytest.raises(ValueError, match=r"Stable-Baselines3.s PPO, not of .*sb3.*A2C. Write"):
        A2C.load(path)
    own = saved(tmp_path, "common.policies.ActorCriticPolicy", OF_PPO, n, **CART)
    with pytest.raises(ValueError, match=r"has the shape \[4, 64\], in the file \[4, 6\]"):
        PPO.load(own)
    data = zipfile.ZipFile(own).read("data")
    with zipfile.ZipFile(own, "w") as archive:
        archive.writestr("data", data)
        archive.writestr("policy.pth", b"nothing of torch")
    with pytest.raises(BadFile, match="is damaged"):
        PPO.load(own)


def test_a_class_of_a_program_reads_the_files_of_its_base(tmp_path: Path) -> None:
    class Own(PPO):
        """A program's own."""

    class OwnA2C(A2C):
        """A program's own."""

    n = actor_critic(4, 2)
    path = saved(tmp_path, "common.policies.ActorCriticPolicy", OF_PPO, n, **CART, **SIZES)
    assert type(Own.load(path)) is Own
    with pytest.raises(ValueError, match=r"PPO, not of rlk_sb3\.A2C\. Write rlk_sb3\.PPO\.load"):
        OwnA2C.load(path)


def test_files_of_stable_baselines_are_read_by_its_own_classes_alone(tmp_path: Path) -> None:
    n = actor_critic(4, 2)
    path = saved(tmp_path, "common.policies.ActorCriticPolicy", OF_PPO, n, **CART, **SIZES)
    there = tmp_path / "there.zip"
    with zipfile.ZipFile(there, "w") as archive:
        for entry in ("data", "parameters", "parameter_list"):
            archive.writestr(entry, "")
    pickled = tmp_path / "there.pkl"
    pickled.write_bytes(pickle.dumps(({"gamma": 0.9}, {"model/w": np.zeros(2)})))
    for kind, file, instead in (
        (rlk_baselines.PPO2, path, r"rlk_sb3\.PPO\.load"),
        (PPO, there, r"rlk_baselines\.PPO2\.load"),
        (PPO, pickled, r"rlk_baselines\.PPO2\.load"),
    ):
        with pytest.raises(BadFile, match=f"{file}.* model.* such as {instead}"):
            kind.load(file)
        model = kind("MlpPolicy", "CartPole-v1")
        with pytest.raises(BadFile, match=f"{file}.* model.* such as {instead}"):
            model.load_parameters(file)


def test_no_code_in_the_weights_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Runs:
        def __reduce__(self) -> Any:
            return (print, ("this must not run",))

    path = saved(
        tmp_path, "common.policies.ActorCriticPolicy", OF_PPO, actor_critic(4, 2), **CART, **SIZES
    )
    entries = {name: zipfile.ZipFile(path).read(name) for name in zipfile.ZipFile(path).namelist()}
    written = io.BytesIO()
    torch.save({"action_net.weight": Runs()}, written)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**entries, "policy.pth": written.getvalue()}.items():
            archive.writestr(name, content)
    with warnings.catch_warnings(), pytest.raises(BadFile, match="is damaged"):
        warnings.simplefilter("ignore")
        PPO.load(path)
    assert "must not run" not in capsys.readouterr().out
