"""`rlk import`: equal actions before and after, what is lost, and what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from click.testing import CliRunner
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import TransformObservation
from saved_there import (
    normalize_there,
    of_lstms,
    of_masks,
    of_stable_baselines,
    of_stable_baselines3,
)

import rlk
from rlk.agent import Agent
from rlk.errors import BadFile, PlanError
from rlk_baselines import GAIL, PPO2
from rlk_cnn.config import CnnConfig
from rlk_evaluate.command import evaluate
from rlk_import.command import command
from rlk_import.origin import origin_of
from rlk_import.spaces import alike, takes_either_axis
from rlk_lstm.config import LstmConfig
from rlk_mlp.config import MlpConfig
from rlk_multi_input.config import MultiInputConfig
from rlk_sb3 import PPO
from rlk_sb3_contrib import MaskablePPO, RecurrentPPO
from rlk_sb3_contrib.common.wrappers import ActionMasker
from rlk_testing.tools.stable_baselines_pickles import image_box, object_there, packed, stand_in

STATES = np.random.default_rng(1).normal(size=(64, 4)).astype(np.float32)
BOTH = [(of_stable_baselines, PPO2), (of_stable_baselines3, PPO)]


def imported(*arguments: Any) -> str:
    """What the command prints."""
    typed = [str(argument) for argument in arguments]
    result = CliRunner().invoke(command, typed, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(("write", "kind"), BOTH)
def test_an_imported_model_acts_as_the_one_that_was_saved(
    tmp_path: Path, write: Any, kind: Any
) -> None:
    path = write(tmp_path / "there.zip")
    printed = imported(path, "--env", "CartPole-v1", "--out", tmp_path / "here")
    assert f"wrote {tmp_path / 'here.zip'}: ppo" in printed
    before = kind.load(path)
    with rlk.load(tmp_path / "here.zip") as agent:
        likely = agent.action_probability(STATES)
        np.testing.assert_allclose(likely, before.action_probability(STATES), rtol=1e-6)
        assert np.ptp(likely) > 0.1, "the parameters are none of a new policy"
        actions, _ = agent.predict(STATES, deterministic=True)
        np.testing.assert_array_equal(actions, before.predict(STATES, deterministic=True)[0])
        settings = agent.plan.algorithm.config
        assert (settings.gamma, settings.n_steps, settings.learning_rate) == (0.9, 8, 1e-3)


@pytest.mark.parametrize(("write", "kind"), BOTH)
def test_it_is_an_ordinary_model_file(tmp_path: Path, write: Any, kind: Any) -> None:
    path = write(tmp_path / "there.zip")
    imported(path, "--env", "CartPole-v1", "--out", tmp_path / "here.zip")
    here = tmp_path / "here.zip"
    played = CliRunner().invoke(evaluate, [str(here), "--episodes", "2"], catch_exceptions=False)
    assert "environment   CartPole-v1" in played.output
    with rlk.load(here) as agent:
        before = agent.num_timesteps
        assert before == (4096 if kind is PPO else 0), "the one library writes how many, not both"
        assert agent.learn(8, reset_num_timesteps=False).num_timesteps == before + 8
    settings: dict[str, Any] = {"policy.net_arch": [{"pi": [6, 5], "vf": [6, 5]}]}
    start = f"model-start:path={here}"
    with rlk.make("a2c", env="CartPole-v1", plugins=[start], **settings) as begun:
        actions, _ = begun.predict(STATES, deterministic=True)
    np.testing.assert_array_equal(actions, kind.load(path).predict(STATES, deterministic=True)[0])


def test_a_recurrent_model_of_contrib_acts_and_remembers_as_the_one_that_was_saved(
    tmp_path: Path,
) -> None:
    path = of_lstms(tmp_path / "there.zip")
    printed = imported(path, "--env", "CartPole-v1", "--out", tmp_path / "here")
    assert "RecurrentPPO of sb3-contrib, 4,096 timesteps" in printed
    before, state = RecurrentPPO.load(path), None
    with rlk.load(tmp_path / "here.zip") as agent:
        for start in (np.ones(64, bool), np.arange(64) < 9):
            likely = agent.action_probability(STATES, state, start)
            expected = before.action_probability(STATES, state, start)
            np.testing.assert_allclose(likely, expected, rtol=1e-6)
            assert np.ptp(likely) > 0.1, "the parameters are none of a new policy"
            _, found = agent.predict(STATES, state, start, deterministic=True)
            _, state = before.predict(STATES, state, start, deterministic=True)
            np.testing.assert_allclose(found, state, rtol=1e-6)


def masked(name: str) -> EnvSpec:
    """An environment by another id, with masks that forbid nothing."""
    made: Any = gymnasium.make(name)
    everything = np.ones(made.action_space.n, bool)
    return EnvSpec(f"Masked{name}", entry_point=lambda: ActionMasker(made, lambda _: everything))


def test_a_masked_model_of_contrib_is_imported_with_an_environment_that_has_masks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CartPole-v1", "Acrobot-v1"):
        monkeypatch.setitem(gymnasium.registry, f"Masked{name}", masked(name))
    path, out = of_masks(tmp_path / "there.zip"), tmp_path / "here.zip"
    printed = imported(path, "--env", "MaskedCartPole-v1", "--out", out)
    assert "MaskablePPO of sb3-contrib" in printed
    masks = np.eye(2, dtype=bool)[np.arange(64) % 2] | (STATES[:, :1] > 0)
    before = MaskablePPO.load(path)
    with rlk.load(out) as agent:
        seen = {"observation": STATES, "action_mask": masks.astype(np.int8)}
        actions, _ = agent.predict(seen, deterministic=True)
    expected, _ = before.predict(STATES, deterministic=True, action_masks=masks)
    unmasked, _ = before.predict(STATES, deterministic=True)
    assert actions.tolist() == expected.tolist() != unmasked.tolist()
    for other, wanted in (
        ("CartPole-v1", r"has no method action_masks\(\)"),
        ("MaskedAcrobot-v1", r"observation_space Box.* and that of 'MaskedAcrobot-v1' is Box"),
    ):
        with pytest.raises(PlanError, match=wanted):
            imported(path, "--env", other, "--out", tmp_path / "no")


def test_the_statistics_of_a_vec_normalize_come_along(tmp_path: Path) -> None:
    path = of_stable_baselines3(tmp_path / "there.zip")
    mean, var = np.array([1.0, -2.0, 0.5, 0.0]), np.array([4.0, 0.25, 1.0, 9.0])
    statistics = normalize_there(tmp_path / "vecnormalize.pkl", mean, var)
    out = tmp_path / "here.zip"
    other_gamma = ("--set", "normalize.gamma=0.5")
    plugin = ("--plugin", "monitor")
    typed = ("--env", "CartPole-v1", "--normalize", statistics, *other_gamma, *plugin)
    imported(path, *typed, "--out", out)
    seen = np.clip((STATES - mean) / np.sqrt(var + 1e-8), -5, 5).astype(np.float32)
    expected = PPO.load(path).action_probability(seen)
    with rlk.load(out) as agent:
        np.testing.assert_allclose(agent.action_probability(STATES), expected, rtol=1e-4)
        found = agent.run.hooks.get("normalize")
        assert {one.name for one in agent.plan.wrappers} >= {"monitor", "normalize"}
        assert (found.config.clip_obs, found.config.gamma) == (5.0, 0.5), "what is typed counts"
        assert (found.statistics.returns.var[0], found.statistics.returns.count) == (25.0, 100.0)
        assert found.statistics.observation.count == 100.0
    other = normalize_there(tmp_path / "other.pkl", [0.0] * 3, [1.0] * 3)
    with pytest.raises(PlanError, match=r"statistics of 3 numbers.*shows 4 that are normalised"):
        imported(path, "--env", "CartPole-v1", "--normalize", other, "--out", tmp_path / "no")
    rewards = normalize_there(tmp_path / "rewards.pkl", mean, var, norm_obs=False)
    imported(path, "--env", "CartPole-v1", "--normalize", rewards, "--out", tmp_path / "raw")
    with rlk.load(tmp_path / "raw.zip") as agent:
        likely = agent.action_probability(STATES)
    np.testing.assert_allclose(likely, PPO.load(path).action_probability(STATES), rtol=1e-6)


def test_what_is_lost_is_said_and_can_be_set_again(tmp_path: Path) -> None:
    schedule = object_there("program.Schedule", start=0.1)
    path = of_stable_baselines3(tmp_path / "there.zip", clip_range=schedule)
    out = tmp_path / "a model"
    printed = imported(path, "--env", "CartPole-v1", "--out", out, "--set", "clip_range=0.3")
    assert f"Type: rlk evaluate '{out}.zip'\n" in printed
    assert "functions and objects are not read: clip_range." in printed
    assert "rlk plugins show ppo" in printed
    assert "the replay begin anew" in printed and "--normalize FILE" in printed
    with rlk.load(f"{out}.zip") as agent:
        assert agent.plan.algorithm.config.clip_range == 0.3


def test_an_activation_that_no_file_can_hold_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with stand_in("torch.nn.modules.activation.Mish") as mish:
        kwargs = packed({"net_arch": {"pi": [6, 5], "vf": [6, 5]}, "activation_fn": mish})
    path = of_stable_baselines3(tmp_path / "there.zip", policy_kwargs=kwargs)
    with pytest.raises(
        PlanError, match=r"has the activation Mish, .*Python: rlk_sb3\.PPO\.load\('.*', env="
    ):
        imported(path, "--env", "CartPole-v1", "--out", tmp_path / "here")
    other = ("--set", "policy.act_fun=relu")
    imported(path, "--env", "CartPole-v1", "--out", tmp_path / "here", *other)
    with rlk.load(tmp_path / "here.zip") as agent:
        assert agent.plan.policy.config.act_fun == "relu"


def test_what_loading_says_about_the_file_is_said_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, load = of_stable_baselines3(tmp_path / "there.zip"), PPO.load

    def talkative(given: Any) -> Any:
        for text in (f"{given}: its dropout is left out", "a package is old"):
            warnings.warn(text, UserWarning, stacklevel=1)
        return load(given)

    monkeypatch.setattr(PPO, "load", talkative)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as under python -W ignore
        printed = imported(path, "--env", "CartPole-v1", "--out", tmp_path / "here")
    assert "  its dropout is left out\n" in printed and "package is old" not in printed


def test_every_agent_that_is_made_is_closed_even_if_the_import_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, closed, init, close = [], [], Agent.__init__, Agent.close

    def noted(agent: Any, *given: Any, **others: Any) -> None:
        made.append(agent)
        init(agent, *given, **others)

    def noted_close(agent: Any) -> None:
        closed.append(agent)
        close(agent)

    monkeypatch.setattr(Agent, "__init__", noted)
    monkeypatch.setattr(Agent, "close", noted_close)
    path, out = of_stable_baselines3(tmp_path / "there.zip"), tmp_path / "here"
    other = normalize_there(tmp_path / "other.pkl", [0.0] * 3, [1.0] * 3)
    for refused in ((), ("--env", "CartPole-v1", "--normalize", other)):
        with pytest.raises(PlanError):
            imported(path, *refused, "--out", out)
    imported(path, "--env", "CartPole-v1", "--out", out)
    assert len(made) == 5
    assert {id(agent) for agent in made} == {id(agent) for agent in closed}


def test_the_policy_of_gail_learns_on_as_that_of_trpo(tmp_path: Path) -> None:
    path = of_stable_baselines(tmp_path / "there.zip", using_gail=True, timesteps_per_batch=16)
    printed = imported(path, "--env", "CartPole-v1", "--out", tmp_path / "here")
    assert "GAIL of Stable Baselines 2.10" in printed
    assert "learnt reward is left out" in printed and "discriminator" not in printed
    with rlk.load(tmp_path / "here.zip") as agent:
        assert agent.plan.algorithm.name == "trpo"
        likely = agent.action_probability(STATES)
    with pytest.warns(UserWarning, match="discriminator of GAIL"):
        before = GAIL.load(path).action_probability(STATES)
    np.testing.assert_allclose(likely, before, rtol=1e-6)


@pytest.mark.parametrize("write", [of_stable_baselines, of_stable_baselines3])
def test_the_environment_has_to_be_named_and_to_have_its_spaces(tmp_path: Path, write: Any) -> None:
    path = write(tmp_path / "there.zip")
    with pytest.raises(PlanError, match=r"Name it by --env ID; observations are Box\(\(4,\)"):
        imported(path, "--out", tmp_path / "here")
    with pytest.raises(PlanError, match=r"observation_space Box.*'Acrobot-v1' is .*--env, or put"):
        imported(path, "--env", "Acrobot-v1", "--out", tmp_path / "here")
    assert not (tmp_path / "here.zip").exists()


def images(*shape: int) -> Any:
    return spaces.Box(0, 255, shape, np.uint8)


def test_images_of_a_cnn_may_have_their_channels_on_either_axis() -> None:
    either = {"bounds": False, "either_axis": True}
    assert alike(images(3, 40, 44), images(40, 44, 3), **either)
    assert not alike(images(3, 40, 44), images(40, 44, 3), bounds=False)
    both = [spaces.Dict({"seen": one}) for one in (images(1, 40, 44), images(40, 44, 1))]
    assert alike(*both, **either)
    assert not alike(*both, bounds=False)
    assert not alike(images(3, 40, 44), images(44, 40, 3), **either)
    numbers = [spaces.Box(-1, 1, shape) for shape in ((3, 40, 44), (40, 44, 3))]
    assert not alike(*numbers, **either)
    assert [takes_either_axis(one) for one in (CnnConfig(), MultiInputConfig())] == [True, True]
    lstms = LstmConfig(), LstmConfig(feature_extraction="cnn")
    assert [takes_either_axis(one) for one in (MlpConfig(), *lstms)] == [False, False, True]


class Pictures(gymnasium.Env[Any, Any]):
    """Images with their channels last."""

    def __init__(self, height: int = 8, width: int = 9) -> None:
        self.observation_space, self.action_space = images(height, width, 3), spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        return self.observation_space.sample(), 1.0, True, False, {}


def test_a_cnn_that_saw_channels_first_takes_an_environment_with_channels_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = EnvSpec("Here-v0", lambda **_: Pictures(36, 36))
    monkeypatch.setitem(gymnasium.registry, "Here-v0", here)
    shapes: dict[str, tuple[int, ...]] = {"features_extractor.linear.0.weight": (512, 64)}
    convolutions = {0: (32, 3, 8, 8), 2: (64, 32, 4, 4), 4: (64, 64, 3, 3)}
    shapes |= {f"features_extractor.cnn.{n}.weight": one for n, one in convolutions.items()}
    shapes |= {f"{name.removesuffix('weight')}bias": one[:1] for name, one in shapes.items()}
    policy = object_there("stable_baselines3.common.policies.ActorCriticCnnPolicy")
    own = {
        "policy_class": policy,
        "observation_space": image_box("gymnasium.spaces.box.Box", (3, 36, 36)),
    }
    path = of_stable_baselines3(tmp_path / "there.zip", 512, shapes, **own)
    imported(path, "--env", "Here-v0", "--out", tmp_path / "here")
    seen = np.random.default_rng(0).integers(0, 256, (4, 3, 36, 36), np.uint8)
    with rlk.load(tmp_path / "here.zip") as agent:
        likely = agent.action_probability(np.moveaxis(seen, 1, -1))
    np.testing.assert_allclose(likely, PPO.load(path).action_probability(seen), rtol=1e-5)


def test_a_policy_without_a_cnn_needs_images_in_the_order_of_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(gymnasium.registry, "Here-v0", EnvSpec("Here-v0", lambda **_: Pictures()))
    space = image_box("gymnasium.spaces.box.Box", (3, 8, 9))
    path = of_stable_baselines3(tmp_path / "there.zip", 3 * 8 * 9, observation_space=space)
    with pytest.raises(PlanError, match=r"has no CNN, so .*--plugin transpose-image"):
        imported(path, "--env", "Here-v0", "--out", tmp_path / "here")
    turn = ("--plugin", "transpose-image")
    imported(path, "--env", "Here-v0", "--out", tmp_path / "here", *turn)
    seen = np.random.default_rng(0).integers(0, 256, (4, 3, 8, 9), np.uint8)
    with rlk.load(tmp_path / "here.zip") as agent:
        likely = agent.action_probability(seen)
    np.testing.assert_allclose(likely, PPO.load(path).action_probability(seen), rtol=1e-6)


def test_a_file_that_may_be_of_several_classes_asks_for_algo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = of_stable_baselines(tmp_path / "there.zip")
    assert origin_of(path).kind is PPO2
    assert origin_of(path, "PPO2").title == "PPO2 of Stable Baselines 2.10"
    with pytest.raises(PlanError, match=r"a model of 'PPO2', not of a2c. Drop --algo"):
        origin_of(path, "a2c")
    monkeypatch.setattr("rlk_import.origin.classes_of", lambda _: ("A2C", "PPO2"))
    with pytest.raises(PlanError, match=r"Use one of: --algo a2c, --algo ppo2\."):
        origin_of(path)
    assert origin_of(path, "ppo2").kind is PPO2
    with pytest.raises(PlanError, match=r"a model of 'PPO', not of a2c"):
        origin_of(of_stable_baselines3(tmp_path / "other.zip"), "a2c")


def test_what_is_no_model_of_theirs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"cannot read .*missing\.zip: No such file"):
        origin_of(tmp_path / "missing.zip")
    with pytest.raises(BadFile, match=r"cannot read .*too long"):
        origin_of(tmp_path / ("x" * 300))
    (tmp_path / "text.zip").write_text("no zip")
    with pytest.raises(BadFile, match=r"not a model that Stable.*rlk evaluate MODEL"):
        origin_of(tmp_path / "text.zip")
    own = of_stable_baselines3(
        tmp_path / "own.zip", policy_class=object_there("sb3_contrib.tqc.policies.TQCPolicy")
    )
    with pytest.raises(PlanError, match=r"a model of sb3-contrib's TQC, which is not loaded"):
        origin_of(own)


def test_a_file_that_exists_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "here.zip").write_text("mine")
    (tmp_path / "here.v2.zip").touch()
    for out, written in (("here", "here"), ("here.zip", "here"), ("here.v2", r"here\.v2")):
        with pytest.raises(PlanError, match=rf"{written}\.zip exists. Name a new file"):
            imported(of_stable_baselines3(tmp_path / "there.zip"), "--out", tmp_path / out)
    assert (tmp_path / "here.zip").read_text() == "mine"
    with pytest.raises(PlanError, match=r"cannot write .*too long"):
        imported(tmp_path / "there.zip", "--out", tmp_path / ("x" * 300))


def test_the_size_of_a_cnn_that_a_dict_does_not_have_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cart = TransformObservation(
        gymnasium.make("CartPole-v1"), lambda seen: {"cart": seen}, spaces.Dict(cart=cart_box())
    )
    monkeypatch.setitem(gymnasium.registry, "Here-v0", EnvSpec("Here-v0", lambda **_: cart))
    policy = "stable_baselines3.common.policies.MultiInputActorCriticPolicy"
    kwargs = {"features_extractor_kwargs": {"cnn_output_dim": 64}, "net_arch": [6, 5]}
    own = {"policy_class": object_there(policy), "policy_kwargs": kwargs}
    own["observation_space"] = packed(spaces.Dict(cart=cart_box()))
    path = of_stable_baselines3(tmp_path / "there.zip", **own)
    imported(path, "--env", "Here-v0", "--out", tmp_path / "here")
    with rlk.load(tmp_path / "here.zip") as agent:
        assert agent.plan.policy.config.features == MultiInputConfig().features
        likely = agent.action_probability({"cart": STATES})
    before = PPO.load(path).action_probability({"cart": STATES})
    np.testing.assert_allclose(likely, before, rtol=1e-6)


def cart_box() -> spaces.Box:
    return spaces.Box(-9, 9, (4,))
