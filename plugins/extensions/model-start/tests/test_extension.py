"""Runs that begin with the policy of a saved model."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.agent import Agent
from rlk.errors import BadFile, PlanError
from rlk.registry.kernel import Kernel
from rlk_expert_data import generate_expert_traj
from rlk_testing.tools.command_line import ended
from rlk_testing.tools.states import same
from rlk_zip.serializer import ZipSerializer

SMALL: dict[str, Any] = {"seed": 1, "n_threads": 1, "policy": {"layers": [8]}}


def made(algo: str = "a2c", *plugins: Any, env: Any = "CartPole-v1", **given: Any) -> Agent:
    return rlk.make(algo, env=env, plugins=list(plugins), **{**SMALL, **given})


def begun(model: Path, algo: str = "a2c", *plugins: Any, **given: Any) -> Agent:
    return made(algo, f"model-start:path={model}", *plugins, **{"seed": 7, **given})


def saved(folder: Path, algo: str, *plugins: Any, steps: int = 40, **given: Any) -> Agent:
    """A trained agent, closed, whose model is `folder/model.zip`."""
    with made(algo, *plugins, **given) as agent:
        agent.learn(steps).save(folder / "model")
    return agent


def test_a_run_begins_with_the_parameters_and_the_optimiser_of_a_model(tmp_path: Path) -> None:
    first = saved(tmp_path, "a2c")
    with begun(tmp_path / "model.zip", learning_rate=1e-5, gamma=0.5) as agent:
        assert same(agent.get_parameters(), first.get_parameters())
        assert same(agent.run.optimise.state_dict(), first.run.optimise.state_dict())
        assert agent.num_timesteps == 0 and agent.run.streams.seed == 7
        assert agent.plan.algorithm.config.gamma == 0.5
        agent.learn(40)
        assert agent.num_timesteps == 40
        assert not same(agent.get_parameters(), first.get_parameters())


@pytest.mark.parametrize(
    ("algo", "env", "given"),
    [
        ("dqn", "CartPole-v1", {"learning_starts": 10, "buffer_size": 100, "batch_size": 4}),
        ("sac", "Pendulum-v1", {"learning_starts": 10, "buffer_size": 100, "batch_size": 4}),
    ],
)
def test_what_the_algorithm_keeps_comes_along(
    tmp_path: Path, algo: str, env: str, given: dict[str, Any]
) -> None:
    """Targets and a learnt entropy coefficient."""
    first = saved(tmp_path, algo, env=env, **given)
    with begun(tmp_path, algo, env=env, **given) as agent:
        own = first.get_parameters()
        assert {name.split("/")[0] for name in own} > {"model"}
        assert same(agent.get_parameters(), own)
        assert same(agent.run.optimise.state_dict(), first.run.optimise.state_dict())


def test_a_clone_without_a_value_function_begins_a_run_where_that_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expert = tmp_path / "expert.npz"
    with made() as agent:
        generate_expert_traj(agent, expert, n_timesteps=0, n_episodes=1)
    clone = saved(tmp_path, "bc", steps=0, expert_path=str(expert), policy={"layers": [8]})
    with pytest.raises(BadFile, match=r"parameter model/vf/out/bias is missing in the model"):
        begun(tmp_path, "ppo2")
    plugin = f"model-start:path={tmp_path},exact_match=false"
    with made("ppo2", plugin, seed=7, verbose=1) as agent:
        own, theirs = agent.get_parameters(), clone.get_parameters()
        policy = {name for name in own if name.startswith("model/pi/")}
        assert policy and policy <= theirs.keys()
        assert all(np.array_equal(own[name], theirs[name]) for name in policy)
        agent.learn(128)
    said = capsys.readouterr().err
    assert "; model/vf/out/bias, model/vf/out/weight, model/vf/trunk/" in said
    assert said.rstrip().endswith("are not in it, and begin anew")


def test_the_statistics_of_normalize_come_along_and_go_on(tmp_path: Path) -> None:
    first = saved(tmp_path, "ppo2", "normalize", n_steps=16)
    before = dict(first.run.policy.named_buffers())
    with begun(tmp_path / "model.zip", "ppo2", "normalize", n_steps=16) as agent:
        buffers = dict(agent.run.policy.named_buffers())
        assert buffers and all(buffers[name].equal(value) for name, value in before.items())
        observation = np.ones(4, np.float32)
        acts = [one.predict(observation, deterministic=True)[0] for one in (first, agent)]
        assert acts[0] == acts[1]
        agent.learn(16)
        assert not all(buffers[name].equal(value) for name, value in before.items())


def test_another_algorithm_takes_the_policy_if_that_is_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = saved(tmp_path, "a2c")
    with begun(tmp_path / "model.zip", "ppo2", n_steps=16, verbose=1) as agent:
        assert same(agent.get_parameters(), first.get_parameters())
        with made("ppo2", n_steps=16) as plain:
            assert same(agent.run.optimise.state_dict(), plain.run.optimise.state_dict())
        agent.learn(16)
    told = capsys.readouterr().err
    assert f"the run begins with {tmp_path}/model.zip, which was trained for 40 timesteps" in told
    assert "its optimiser begins anew" in told


def test_another_optimiser_begins_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = saved(tmp_path, "a2c")
    with begun(tmp_path / "model.zip", optimiser="adam", verbose=1) as agent:
        assert same(agent.get_parameters(), first.get_parameters())
    assert "its optimiser begins anew" in capsys.readouterr().err


def test_another_optimiser_of_a_group_begins_anew(tmp_path: Path) -> None:
    first = saved(tmp_path, "trpo", timesteps_per_batch=20)
    with begun(tmp_path, "trpo", timesteps_per_batch=20, vf_optimiser="rmsprop") as agent:
        assert same(agent.get_parameters(), first.get_parameters())


def test_parameter_noise_begins_with_the_policy_that_was_loaded(tmp_path: Path) -> None:
    given = {"learning_starts": 10, "buffer_size": 100, "batch_size": 4}
    saved(tmp_path, "dqn", **given)
    found = []
    for _ in range(2):
        with begun(tmp_path, "dqn", "param-noise", **given) as agent:
            carry = agent.run.collector.state_dict()["carry"]
            assert carry["parameters"][0].equal(agent.run.parameters.flat)
            found.append(agent.learn(30).get_parameters())
    assert same(*found)


@pytest.mark.parametrize("place", ["", "model.zip", "checkpoints/40.zip"])
def test_a_model_is_a_file_a_checkpoint_or_a_run_folder(tmp_path: Path, place: str) -> None:
    first = saved(tmp_path / "run", "a2c", out=str(tmp_path / "run"), total_timesteps=40)
    with begun(tmp_path / "run" / place) as agent:
        assert same(agent.get_parameters(), first.get_parameters())


# ---- what goes on afterwards ---------------------------------------------------------------------


def test_a_whole_use_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, fork = tmp_path / "first", tmp_path / "second", tmp_path / "fork"
    run = ["run", "--algo", "a2c", "--env", "CartPole-v1", "--preset", "none"]
    run += ["--set", "n_threads=1", "--timesteps", 40]
    assert ended(*run, "--seed", 1, "--out", first, "--quiet") == 0
    start = ["--plugin", f"model-start:path={first}", "--set", "learning_rate=0"]
    assert ended(*run, "--seed", 2, *start, "--out", second) == 0
    assert f"begins with {first}, which was trained for 40 timesteps" in capsys.readouterr().err
    with rlk.load(first) as one, rlk.load(second) as other:
        assert same(one.get_parameters(), other.get_parameters())
        assert other.num_timesteps == 40 and other.plan.seed == 2
    shutil.rmtree(first)  # a run that continues does not need it any more
    again = ["--timesteps", 80, "--set", "learning_rate=1e-3", "--quiet"]
    assert ended("resume", second, "--out", fork, *again) == 0
    assert ended("resume", second, *again) == 0
    assert ended("evaluate", second, "--episodes", 1) == 0
    with rlk.load(second) as one, rlk.load(fork) as other:
        assert same(one.get_parameters(), other.get_parameters())


def test_a_run_that_is_loaded_has_its_own_parameters(tmp_path: Path) -> None:
    saved(tmp_path, "a2c")
    with begun(tmp_path / "model.zip") as agent:
        path = agent.learn(40).save(tmp_path / "second")
        (tmp_path / "model.zip").unlink()
        with rlk.load(path) as loaded:
            assert same(loaded.get_parameters(), agent.get_parameters())
            loaded.learn(10)


def test_it_has_no_part_in_a_run_that_goes_on(tmp_path: Path) -> None:
    saved(tmp_path, "a2c")
    path = tmp_path / "model.zip"
    with pytest.raises(PlanError, match=r"begins a new run, but this run continues .*Leave it out"):
        rlk.load(path, plugins=(f"model-start:path={path}",))


# ---- what does not fit ---------------------------------------------------------------------------


def test_without_a_model_it_says_what_to_type() -> None:
    with pytest.raises(PlanError, match=r"needs a model to begin with. Use --plugin model-st"):
        made("a2c", "model-start")


def test_a_model_that_is_not_there_is_refused_while_planning(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="does not exist"):
        begun(tmp_path / "nothing.zip")
    with pytest.raises(PlanError, match=r"holds no model.zip and no checkpoint"):
        begun(tmp_path)


def test_a_file_of_stable_baselines_is_answered_with_how_to_convert_it(tmp_path: Path) -> None:
    (tmp_path / "BreakoutNoFrameskip-v4.pkl").write_bytes(b"\x80\x03.")
    with pytest.raises(PlanError, match=r"(?s)reads '.pkl' files.*rlk import FILE --env"):
        begun(tmp_path / "BreakoutNoFrameskip-v4.pkl")
    with zipfile.ZipFile(tmp_path / "ppo.zip", "w") as archive:
        archive.writestr("_stable_baselines3_version", "2.3.0")
    with pytest.raises(PlanError, match="Stable-Baselines3 model") as refused:
        begun(tmp_path / "ppo.zip")
    assert str(refused.value).count("rlk import FILE") == 1


def test_a_replay_alone_is_refused(tmp_path: Path) -> None:
    with made("dqn", buffer_size=100) as agent:
        path = agent.learn(10).save_replay_buffer(tmp_path / "replay")
    with pytest.raises(BadFile, match="holds no model"):
        begun(path, "dqn", buffer_size=100)


def test_another_environment_of_the_same_spaces_is_taken_and_others_are_refused(
    tmp_path: Path,
) -> None:
    first = saved(tmp_path, "a2c")
    with begun(tmp_path, env="CartPole-v0") as agent:
        assert same(agent.get_parameters(), first.get_parameters())
    told = r"was trained on 'CartPole-v1', whose observation_space is .*4.*Acrobot.*same spaces"
    with pytest.raises(PlanError, match=told):
        begun(tmp_path, env="Acrobot-v1")


def test_bounds_may_be_others_also_in_a_dict(tmp_path: Path) -> None:
    class Bounded(gym.Env[Any, Any]):
        action_space = gym.spaces.Discrete(2)

        def __init__(self, high: float = 1.0) -> None:
            self.observation_space = gym.spaces.Dict(a=gym.spaces.Box(0, high, (2,)))

    with made(env=Bounded, policy="multi-input") as first:
        first.save(tmp_path / "model")
    with begun(tmp_path / "model.zip", env=lambda: Bounded(9.0), policy="multi-input") as agent:
        assert same(agent.get_parameters(), first.get_parameters())


def test_images_of_another_dtype_are_named_where_the_layers_do_not_fit(tmp_path: Path) -> None:
    class Seeing(gym.Env[Any, Any]):
        action_space = gym.spaces.Discrete(2)

        def __init__(self, dtype: Any = np.uint8) -> None:
            self.observation_space = gym.spaces.Box(0, 255, (36, 36, 3), dtype)

    with made(env=Seeing, policy="cnn") as first:
        first.save(tmp_path / "model")
    told = r"trained on observations of Box\(0, 255, .*uint8\), and those of .*float32\): wrap"
    with pytest.raises(BadFile, match=told):
        begun(tmp_path / "model.zip", env=lambda: Seeing(np.float32), policy="cnn")


def test_another_architecture_is_refused_with_what_to_type(tmp_path: Path) -> None:
    saved(tmp_path, "a2c", policy={"layers": [8], "act_fun": "relu"})
    told = r"layers=\[8\], not \[4\].*Use --set 'policy.layers=\[8\]' --set policy.act_fun=relu"
    with pytest.raises(PlanError, match=told):
        begun(tmp_path, policy={"layers": [4]})
    with pytest.raises(PlanError, match=r"has the policy 'mlp', not 'lstm'. Use --policy mlp\."):
        begun(tmp_path, policy="lstm")
    with pytest.raises(PlanError, match=r"Use --set .*\. It was trained with --algo a2c\."):
        begun(tmp_path, "dqn")


def test_other_parameters_are_named_with_their_shapes(tmp_path: Path) -> None:
    saved(tmp_path, "acer")
    told = (
        r"parameter model/qf/out/bias is \[2\] in the model and missing here; .* and \d+ more\. "
        "It was trained with --algo acer"
    )
    with pytest.raises(BadFile, match=told):
        begun(tmp_path)


def test_a_coefficient_that_the_model_lacks_is_refused_with_the_setting(tmp_path: Path) -> None:
    given = {"env": "Pendulum-v1", "buffer_size": 100, "learning_starts": 90}
    saved(tmp_path, "sac", ent_coef=0.1, **given)
    told = r"parameter log_ent_coef is missing in the model and \[1\] here\. .* --set ent_coef=0.1"
    with pytest.raises(BadFile, match=told):
        begun(tmp_path, "sac", **given)


def test_a_coefficient_that_the_run_does_not_learn_is_left(tmp_path: Path) -> None:
    given = {"env": "Pendulum-v1", "buffer_size": 100, "learning_starts": 90}
    saved(tmp_path, "sac", **given)
    with begun(tmp_path, "sac", ent_coef=0.1, **given) as agent:
        assert "log_ent_coef" not in agent.get_parameters()


@pytest.mark.parametrize(
    ("there", "here", "told"),
    [
        (["normalize"], [], "It was trained with --plugin normalize"),
        ([], ["normalize"], "It was trained without normalize"),
    ],
)
def test_other_statistics_are_refused_with_the_plugin_that_keeps_them(
    tmp_path: Path, there: list[str], here: list[str], told: str
) -> None:
    saved(tmp_path, "a2c", *there)
    with pytest.raises(BadFile, match=rf"does not fit this run: .*{told}"):
        begun(tmp_path, "a2c", *here)


def test_a_critic_of_normalised_returns_is_refused_where_they_are_not(tmp_path: Path) -> None:
    given = {"env": "Pendulum-v1", "nb_rollout_steps": 10, "batch_size": 4}
    saved(tmp_path, "ddpg", normalize_returns=True, **given)
    with pytest.raises(BadFile, match=r"learnt normalised returns .* --set normalize_returns=true"):
        begun(tmp_path, "ddpg", **given)


@pytest.mark.parametrize("value", ["text", None, {"a": 1}])
def test_a_forged_model_is_refused(tmp_path: Path, value: Any) -> None:
    saved(tmp_path, "a2c")
    state = ZipSerializer().read(tmp_path / "model.zip")
    state["parameters"]["pi.out.bias"] = value
    ZipSerializer().write(tmp_path / "forged.zip", state)
    with pytest.raises(BadFile, match=r"model-start: .*forged.zip does not fit this run"):
        begun(tmp_path / "forged.zip")


def test_a_forged_state_of_an_optimiser_is_refused(tmp_path: Path) -> None:
    saved(tmp_path, "a2c")
    state = ZipSerializer().read(tmp_path / "model.zip")
    (of_group,) = state["optimise"].values()
    of_group["square"] = of_group["square"].double()  # which a copy would convert
    ZipSerializer().write(tmp_path / "forged.zip", state)
    with pytest.raises(BadFile, match=r"does not fit this run: .*the state of its optimiser"):
        begun(tmp_path / "forged.zip")


class Boxes(ZipSerializer):
    """Zips by another name, which only one kernel knows."""

    suffix = ".box"


def test_a_serializer_of_the_runs_own_kernel_reads_it(tmp_path: Path) -> None:
    kernel = Kernel()
    kernel.registries.serializers.register("box", Boxes)
    settings = {"kernel": kernel, "serializer": "box"}
    first = saved(tmp_path, "a2c", **settings)
    with begun(tmp_path / "model.box", **settings) as agent:
        assert same(agent.get_parameters(), first.get_parameters())
