"""Agents from keywords, and from saved files."""

from __future__ import annotations

import gc
import os
import weakref
from collections import OrderedDict
from contextlib import nullcontext
from pathlib import Path

import attrs
import numpy as np
import pytest
import torch
from gymnasium import spaces

import rlk
from rlk.errors import PlanError
from rlk.restoring.saved_spaces import check_spaces_of_saved, space_state
from rlk.spaces import describe
from rlk_testing.environments import BY_ACTION_SPACE, DiscreteMatch, environment_named
from rlk_testing.stand_ins import StandInConfig

MATCH = BY_ACTION_SPACE["Discrete"]


def test_a_saved_model_acts_and_counts_as_it_did(make, tmp_path, rlk_stand_in_kernel):
    agent = make()
    agent.learn(40)
    path = agent.save(tmp_path / "model")
    assert path.suffix == ".standin"
    with rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel) as loaded:
        assert torch.equal(loaded.run.parameters.flat, agent.run.parameters.flat)
        assert loaded.num_timesteps == 40
        assert loaded.differs and "as a model, not as a checkpoint" in loaded.differs[0]


def test_a_model_is_loaded_with_a_seed_of_its_own(make, tmp_path, rlk_stand_in_kernel):
    path = make(seed=1).save(tmp_path / "model")
    draws = {}
    for seed in (5, None, "left out"):
        given = {} if seed == "left out" else {"seed": seed}
        with rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel, **given) as loaded:
            assert loaded.run.streams.seed == (seed if seed == 5 else 1)
            draws[seed] = loaded.run.streams.numpy("actor").random()
    assert draws[None] == draws["left out"] != draws[5]


def test_settings_may_be_others_when_a_model_is_loaded(make, tmp_path, rlk_stand_in_kernel):
    path = make(batch_size=4).save(tmp_path / "model")
    with rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel, learning_rate=0.5) as loaded:
        assert loaded.plan.algorithm.config.learning_rate == 0.5
        assert loaded.plan.algorithm.config.batch_size == 4


@pytest.mark.parametrize("only_trains", [False, True])
@pytest.mark.parametrize("to_act", [False, True])
def test_an_extension_that_is_passed_again_has_its_saved_settings(
    make, tmp_path, rlk_stand_in_kernel, only_trains, to_act
):
    @attrs.frozen(kw_only=True)
    class Config:
        speed: int = 1
        height: int = 1

    class Hastens:
        def __init__(self, config):
            self.config = config

        @rlk.hookimpl
        def rlk_training_start(self):
            pass

    hastens = rlk.Component(
        name="hastens",
        kind="extensions",
        factory=Hastens,
        config=Config,
        only_trains=only_trains,
    )
    path = make(plugins=[hastens], **{"hastens.speed": 3, "hastens.height": 3}).save(tmp_path / "m")
    again = {"env": MATCH, "plugins": (hastens,), "hastens.height": 5}
    with rlk.load(path, kernel=rlk_stand_in_kernel, to_act=to_act, **again) as loaded:
        assert loaded.run.hooks.get("hastens").config == Config(speed=3, height=5)


@pytest.mark.parametrize("learn", ["learn", "learn_until"])
def test_the_warning_about_a_lost_schedule_is_at_the_line_of_the_program(
    make, tmp_path, rlk_stand_in_kernel, learn
):
    path = make(learning_rate=lambda remaining: remaining).save(tmp_path / "model")
    with (
        rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel) as loaded,
        pytest.warns(UserWarning, match="learning_rate was the callable") as said,
    ):
        getattr(loaded, learn)(8)
    assert {one.filename for one in said} == {__file__}


def test_code_is_not_run_because_a_file_names_it(make, tmp_path, rlk_stand_in_kernel):
    environments = rlk_stand_in_kernel.registries.environments
    environments.unregister("stand-in-environments")
    environments.register("runs", environment_named, runs_code=True)
    path = make().save(tmp_path / "model")
    with pytest.raises(PlanError, match="Pass it again"):
        rlk.load(path, kernel=rlk_stand_in_kernel)


def test_a_model_is_loaded_without_what_had_joined_by_itself_and_says_so(
    make, tmp_path, rlk_stand_in_kernel
):
    class Hastens:
        """An extension that joins wherever an agent is made."""

        @rlk.hookimpl
        def rlk_training_start(self):
            pass

    extensions = rlk_stand_in_kernel.registries.extensions
    extensions.register("hastens", Hastens, autostart="always")
    agent = make()
    assert [choice.name for choice in agent.plan.extensions] == ["hastens"]
    path = agent.save(tmp_path / "model")
    extensions.unregister("hastens")
    with rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel) as loaded:
        assert loaded.plan.extensions == ()
        assert "'hastens'" in loaded.differs[0] and "is left out" in loaded.differs[0]
        again = loaded.save(tmp_path / "again")
    with rlk.load(again, env=MATCH, kernel=rlk_stand_in_kernel) as loaded:
        assert len(loaded.differs) == 1  # it is a model, and nothing is missed


def test_a_config_object_is_as_good_as_keywords(rlk_stand_in_kernel):
    with rlk.make(
        "stand-in", config=StandInConfig(gamma=0.25), kernel=rlk_stand_in_kernel, env=MATCH
    ) as agent:
        assert agent.plan.algorithm.config.gamma == 0.25
        assert agent.spec.given == {"gamma": 0.25, "env": MATCH}, "defaults count as left out"


def test_a_config_of_a_class_of_ones_own_has_its_defaults(rlk_stand_in_kernel):
    @attrs.frozen(kw_only=True)
    class Patient(StandInConfig):
        gamma: float = 0.75

    with rlk.make("stand-in", config=Patient(), kernel=rlk_stand_in_kernel, env=MATCH) as agent:
        assert agent.plan.algorithm.config.gamma == 0.75


def test_a_device_may_be_one_of_torch(rlk_stand_in_kernel, tmp_path):
    device, own = torch.device("cpu"), {"kernel": rlk_stand_in_kernel, "env": MATCH}
    with rlk.make("stand-in", device=device, **own) as agent:
        path = agent.save(tmp_path / "model")
    with rlk.load(path, device=device, **own) as loaded:
        assert loaded.plan.device == "cpu"


def test_without_a_seed_one_is_drawn_and_kept_in_the_file(rlk_stand_in_kernel, tmp_path):
    with rlk.make("stand-in", kernel=rlk_stand_in_kernel, env=MATCH) as agent:
        path = agent.save(tmp_path / "model")
        with rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel) as loaded:
            assert loaded.run.streams.seed == agent.run.streams.seed


def test_a_vector_environment_has_its_own_number_of_environments(make):
    from gymnasium.vector import AutoresetMode, SyncVectorEnv

    vector = SyncVectorEnv([DiscreteMatch] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
    with pytest.raises(PlanError, match="n_envs=3"):
        make(env=vector, n_envs=3)


def of_spaces(observation_space, action_space):
    class Given(DiscreteMatch):
        def __init__(self):
            super().__init__()
            self.observation_space, self.action_space = observation_space, action_space

    return Given


ONE, THREE = spaces.Box(-1, 1, (1,)), spaces.Discrete(3, start=1)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ((spaces.Box(-1, 1, (2,)), THREE), r"observation_space is .*\(1,\), .*is Box\(\(2,\)"),
        ((spaces.Discrete(2), THREE), "observation_space"),
        ((ONE, spaces.Discrete(3)), r"action_space is .*start=1.* is Discrete\(3\)"),
        ((ONE, spaces.MultiDiscrete([3])), "action_space"),
    ],
)
def test_spaces_of_another_kind_or_size_are_refused(
    make, tmp_path, rlk_stand_in_kernel, other, said
):
    path = make(env=of_spaces(ONE, THREE)).save(tmp_path / "model")
    with pytest.raises(PlanError, match=f"model.standin was trained on 'Given', whose {said}"):
        rlk.load(path, env=of_spaces(*other), kernel=rlk_stand_in_kernel)


UNITS, OTHER_UNITS = spaces.Box(-2, 3, (2,)), spaces.Box(-4, 6, (2,))


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        (
            (ONE, UNITS),
            (ONE, OTHER_UNITS),
            r"action_space is Box\(-2\.0.*is Box\(-4.*RescaleAction",
        ),
        (
            (ONE, UNITS),
            (spaces.Box(-9, 9, (1,)), UNITS),
            r"observation_space is Box\(-1\.0.*RescaleObservation",
        ),
        (
            (spaces.Box(0, 255, (8, 8, 1)), THREE),
            (spaces.Box(0, 255, (8, 8, 1), np.uint8), THREE),
            "observation_space is .*float32.*uint8",
        ),
    ],
)
def test_other_bounds_are_refused_with_how_to_begin_a_run_in_them(
    make, tmp_path, rlk_stand_in_kernel, own, other, said
):
    path = make(env=of_spaces(*own)).save(tmp_path / "model")
    with pytest.raises(PlanError, match=rf"'Given', whose {said}.*model-start:path=MODEL$"):
        rlk.load(path, env=of_spaces(*other), kernel=rlk_stand_in_kernel)


def test_a_dtype_may_be_another_and_infinite_bounds_of_observations_are_not_compared(
    make, tmp_path, rlk_stand_in_kernel
):
    low = np.array([-1, -np.inf], np.float32)
    path = make(env=of_spaces(spaces.Box(low, np.float32(np.inf)), UNITS)).save(tmp_path / "model")
    other = spaces.Box(np.array([-1.0, -3.4e38]), np.full(2, 3.4e38), dtype=np.float64)
    with rlk.load(path, env=of_spaces(other, UNITS), kernel=rlk_stand_in_kernel) as loaded:
        assert loaded.plan.observation_space == other
    endless = of_spaces(spaces.Box(low, np.float32(np.inf)), spaces.Box(-np.inf, np.inf, (2,)))
    with pytest.raises(PlanError, match=r"action_space is Box\(-2\.0.*Box\(-inf"):
        rlk.load(path, env=endless, kernel=rlk_stand_in_kernel)


def test_a_file_that_does_not_hold_its_spaces_is_taken_in_any_bounds(plan):
    own = {"observation_space": ONE, "action_space": UNITS}
    saved = {"name": "its env", **{key: describe(space) for key, space in own.items()}}
    saved["spaces"] = dict.fromkeys(own)
    others = {"observation_space": spaces.Box(-9, 9, (1,)), "action_space": OTHER_UNITS}
    check_spaces_of_saved(saved, attrs.evolve(plan(), **others), "the file")
    saved["spaces"] = {key: space_state(space) for key, space in own.items()}
    with pytest.raises(PlanError, match=r"observation_space is Box\(-1\.0, 1\.0"):
        check_spaces_of_saved(saved, attrs.evolve(plan(), **others), "the file")


def test_of_a_dict_the_order_may_be_another_but_no_part_and_no_bound(plan):
    parts = {"b": spaces.Box(-1, np.array([1, 2], np.float32)), "a": spaces.Discrete(2)}
    wider = {"a": spaces.Discrete(2), "b": spaces.Box(-9, 9, (2,))}
    ordered = {"a": parts["a"], "b": parts["b"]}
    saved = {"name": "its env", "action_space": "Discrete(2)"}
    for own, fits in ((parts, True), (ordered, True), (wider, False)):
        space = spaces.Dict(OrderedDict(own))
        saved["observation_space"] = describe(space)
        saved["spaces"] = {"observation_space": space_state(space)}
        now = attrs.evolve(
            plan(),
            observation_space=spaces.Dict(OrderedDict(parts)),
            action_space=spaces.Discrete(2),
        )
        with nullcontext() if fits else pytest.raises(PlanError, match="on 'its env', whose obs"):
            check_spaces_of_saved(saved, now, "the file")


class Takes(DiscreteMatch):
    def __init__(self, table):
        super().__init__()
        self.table = table


@pytest.mark.parametrize("table", [{1: "x"}, {"a": [{None: 1}]}])
def test_a_table_whose_keys_are_no_texts_is_passed_again(
    make, tmp_path, rlk_stand_in_kernel, table
):
    path = make(env=Takes, **{"env.table": table}).save(tmp_path / "model")
    told = {"env": Takes, "kernel": rlk_stand_in_kernel}
    with pytest.raises(
        PlanError, match=r"made with .\{.*\}. in env\.table, .* Pass it again: in Py"
    ):
        rlk.load(path, **told)
    with rlk.load(path, **told, **{"env.table": table}) as loaded:
        assert loaded.plan.env.kwargs == {"table": table}


# ---- paths ---------------------------------------------------------------------------------------


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_and_files_may_be_in_the_home_of_the_user(make, home, rlk_stand_in_kernel):
    agent = make(out="~/runs/first")
    assert agent.run.out == home / "runs" / "first"
    assert agent.save("~/runs/first/model") == home / "runs" / "first" / "model.standin"
    agent.load_parameters("~/runs/first/model")
    agent.save_checkpoint(Path("~/at-0"))
    agent.close()
    told = {"env": MATCH, "kernel": rlk_stand_in_kernel}
    with rlk.load("~/at-0", **told) as loaded:
        assert loaded.run.out is None
    with rlk.load("~/runs/first/model", out="~/runs/first", **told) as loaded:
        assert loaded.run.out == home / "runs" / "first"
    assert not (home / "~").exists()


def test_a_name_of_no_user_is_a_name(make, home):
    assert make(out="~nobody-by-this-name").run.out == home / "~nobody-by-this-name"


# ---- open agents ---------------------------------------------------------------------------------


def ours(agents):
    """Those of them that are still found; other tests have agents, too."""
    return [agent for agent in rlk.open_agents() if agent in agents]


def test_open_agents_are_found_in_their_order_until_they_are_closed(make):
    agents = [make(), make(), make()]
    assert ours(agents) == agents
    agents[1].close()
    assert ours(agents) == [agents[0], agents[2]]


def test_an_agent_that_nobody_holds_is_not_kept(rlk_stand_in_kernel):
    agent = rlk.make("stand-in", env=MATCH, kernel=rlk_stand_in_kernel)
    held = weakref.ref(agent)
    assert ours([agent]) == [agent]
    del agent
    gc.collect()
    assert held() is None


@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_a_fork_has_none_of_the_agents_of_its_parent(make):
    agent = make()
    child = os.fork()
    if child == 0:
        os._exit(len(rlk.open_agents()))
    assert os.waitpid(child, 0)[1] == 0 and ours([agent]) == [agent]
