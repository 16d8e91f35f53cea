"""A run that is restored with other parts than the saved ones."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import attrs
import pytest
import torch

import rlk
from rlk.component import Component
from rlk.errors import PlanError
from rlk.saving import checkpoint
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import COMPONENTS, Idle, StandIn, StandInOptimiser, StandInPolicy

MATCH = BY_ACTION_SPACE["Discrete"]


class Momentum(StandInOptimiser):
    """It has a state, which no other optimiser's can replace."""

    def __init__(self, group):
        super().__init__(group)
        self.speed = torch.zeros_like(group.flat)

    def step(self, objective):
        self.speed += 1.0
        return super().step(objective)

    def state_dict(self):
        return {"speed": self.speed.clone()}

    def load_state_dict(self, state):
        self.speed.copy_(state["speed"])


class Other(Momentum):
    def state_dict(self):
        return {"pace": self.speed.clone()}

    def load_state_dict(self, state):
        self.speed.copy_(state["pace"])


class TwoGroups(StandIn):
    def __init__(self, config, run):
        super().__init__(config, run)
        run.group("vf", learning_rate=0.1)


@pytest.fixture
def optimisers(rlk_stand_in_kernel):
    registry = rlk_stand_in_kernel.registries.optimisers
    registry.register("momentum", Momentum)
    registry.register("other", Other)
    return registry


def speeds(agent):
    return {name: float(step.speed[0]) for name, step in agent.run.optimise.steps.items()}


@pytest.mark.parametrize("save", ["save", "save_checkpoint"])
def test_an_optimiser_of_another_name_begins_anew_and_it_is_said(
    make, tmp_path, rlk_stand_in_kernel, optimisers, save
):
    saved = make(optimiser="momentum").learn(8)
    path = getattr(saved, save)(tmp_path / "file")
    assert speeds(saved) == {"value": 2.0}
    keywords = {"kernel": rlk_stand_in_kernel, "env": MATCH}
    with rlk.load(path, **keywords) as same:
        assert speeds(same) == {"value": 2.0}
        assert not any("momentum" in one for one in same.differs)
    with rlk.load(path, optimiser="other", **keywords) as agent:
        assert speeds(agent) == {"value": 0.0}
        said = "the optimiser of group 'value' was 'momentum'; 'other' begins without its state"
        assert agent.differs[0] == said
        assert agent.run.parameters.flat.equal(saved.run.parameters.flat)
        agent.learn(4, reset_num_timesteps=False)
        assert speeds(agent) == {"value": 1.0} and agent.num_timesteps == 12


def test_only_the_group_whose_optimiser_is_another_begins_anew(
    rlk_make, tmp_path, rlk_stand_in_kernel, optimisers
):
    component = COMPONENTS["algorithms"]
    defaults = {**component.defaults, "optimiser": "momentum", "vf_optimiser": "momentum"}
    two = attrs.evolve(component, name="two", factory=TwoGroups, defaults=defaults)
    rlk_stand_in_kernel.registries.algorithms.register("two", two)
    saved = rlk_make("two", kernel=rlk_stand_in_kernel, env=MATCH)
    for step in saved.run.optimise.steps.values():
        step.speed += 3.0
    path = saved.save(tmp_path / "model")
    changes = {"kernel": rlk_stand_in_kernel, "env": MATCH, "vf_optimiser": "other"}
    with rlk.load(path, **changes) as agent:
        assert speeds(agent) == {"value": 3.0, "vf": 0.0}
        assert [one for one in agent.differs if "begins without" in one] == [
            "the optimiser of group 'vf' was 'momentum'; 'other' begins without its state"
        ]


def test_a_model_whose_optimiser_is_not_installed_acts_with_another_one(
    make, tmp_path, rlk_stand_in_kernel, optimisers
):
    path = make(optimiser="momentum").save(tmp_path / "model")
    optimisers.unregister("momentum")
    keywords = {"kernel": rlk_stand_in_kernel, "env": MATCH}
    with pytest.raises(PlanError, match=r"or use another optimiser: --set optimiser=NAME"):
        rlk.load(path, **keywords)
    with rlk.load(path, optimiser="other", **keywords) as agent:
        assert agent.plan.optimiser.name == "other"


@attrs.frozen(kw_only=True)
class Eyes:
    sight: float = 1.0
    lens: Any = None


class Sees(Idle):
    def __init__(self, config=None):
        self.config = config


class Shades(StandInPolicy):
    pass


@pytest.mark.parametrize("lens", [abs, [abs]])
def test_changed_parts_that_it_acts_by_are_among_what_differs(
    make, tmp_path, rlk_stand_in_kernel, lens
):
    registries = rlk_stand_in_kernel.registries
    registries.extensions.register("sees", Sees, config=Eyes)
    registries.extensions.register("trains", Sees, config=Eyes, only_trains=True)
    registries.policies.register("shades", Shades)
    given = {"sees.lens": lens, "sees.sight": 2.0, "trains.sight": 2.0}
    path = make("sees", "trains", **given).save(tmp_path / "model")

    def differs(**changes):
        with rlk.load(path, kernel=rlk_stand_in_kernel, env=MATCH, **changes) as agent:
            return agent.differs[2:]  # after a lost function, and that it is a model

    assert differs() == []
    changed = {"sees.sight": 3.0, "trains.sight": 3.0, "seed": 5}
    assert differs(**changed) == ["extension 'sees' had sight=2.0, and now has 3.0"]
    assert differs(policy="shades") == [
        "the policy was 'stand-in-policy'; 'shades' may act otherwise by the same parameters"
    ]


@attrs.frozen(kw_only=True)
class Tint:
    shade: float = 0.0


@attrs.frozen(kw_only=True)
class Frame:
    width: float = 0.0


class Tinted(StandInPolicy):
    config = Tint

    def __init__(self, config):
        self.settings = config


class Renamed(Tinted):
    pass


class Framed(Tinted):
    config = Frame


class Wider(StandInPolicy):
    def build(self, observation_space, heads):
        module = super().build(observation_space, heads)
        module.add_module("more", torch.nn.Linear(3, 3))
        return module


@pytest.mark.parametrize(
    ("passed", "settings"),
    [(Tinted, Tint(shade=0.5)), (Renamed, Tint(shade=0.5)), (Framed, Frame())],
)
def test_a_class_of_another_name_takes_the_slot_with_settings_of_the_same_names(
    make, tmp_path, rlk_stand_in_kernel, passed, settings
):
    given = {"policy": Tinted, "policy.shade": 0.5}
    path = make(**given).save(tmp_path / "model")
    with rlk.load(path, kernel=rlk_stand_in_kernel, env=MATCH, policy=passed) as agent:
        assert agent.plan.policy.name == passed.__name__
        assert agent.plan.policy.config == settings


def test_a_class_with_a_value_of_its_own_keeps_it(make, tmp_path, rlk_stand_in_kernel):
    path = make(**{"policy": Tinted, "policy.shade": 0.5}).save(tmp_path / "model")
    dark = rlk.Component(
        name="dark", kind="policies", factory=Tinted, config=Tint, own_defaults={"shade": 0.9}
    )
    with rlk.load(path, kernel=rlk_stand_in_kernel, env=MATCH, policy=dark) as agent:
        assert agent.plan.policy.config == Tint(shade=0.9)


@pytest.mark.parametrize("policy", [{"shade": 0.5}, None])
def test_settings_of_a_class_do_not_stand_for_the_class(
    make, tmp_path, rlk_stand_in_kernel, policy
):
    path = make(policy=Tinted).save(tmp_path / "model")
    with pytest.raises(PlanError, match=r"made with policy 'Tinted', .* Pass it again"):
        rlk.load(path, kernel=rlk_stand_in_kernel, env=MATCH, policy=policy)


@pytest.mark.parametrize(("before", "now"), [(StandInPolicy, Wider), (Wider, "stand-in-policy")])
def test_another_policy_whose_networks_are_others_is_refused(
    make, tmp_path, rlk_stand_in_kernel, before, now
):
    path = make(policy=before).save(tmp_path / "model")
    with pytest.raises(PlanError, match=f"makes other networks than .* '{before.__name__}': "):
        rlk.load(path, kernel=rlk_stand_in_kernel, env=MATCH, policy=now)


# ---- another collector ---------------------------------------------------------------------------


class Still:
    """A collector that steps nothing."""

    def __init__(self, run):
        self.run = run

    def collect(self):
        self.run.clock.timesteps += 8
        return True

    def forget(self): ...

    def state_dict(self):
        return {}

    def load_state_dict(self, state): ...


class LearnsNothing(StandIn):
    def batches(self, storage):
        return []


@pytest.fixture
def make_offline(make, rlk_stand_in_kernel):
    still = Component(name="still", factory=Still, steps_nothing=True)
    rlk_stand_in_kernel.registries.collectors.register("still", still)
    return partial(make, algorithm=LearnsNothing, collector="still")


def test_another_collector_begins_without_the_state_of_the_one_before(make, make_offline):
    online, offline = make(algorithm=LearnsNothing), make_offline()
    online.learn(4)  # the episodes that it is in end as well
    was_offline = copy.deepcopy(checkpoint.run_state(offline.learn(16).run))
    was_online = copy.deepcopy(checkpoint.run_state(online.run))
    told = "the collector was 'still'; 'stand-in-collector' starts new episodes without its state"
    assert checkpoint.restore(online.run, was_offline) == [told]
    resets, reset = [], online.run.env.reset
    online.run.env.reset = lambda **given: resets.append(given) or reset(**given)
    online.learn_until(32)
    assert online.num_timesteps == 32 and len(resets) == 1
    told = "the collector was 'stand-in-collector'; 'still' begins without its state"
    assert checkpoint.restore(offline.run, was_online) == [told]


def test_nothing_fills_up_anew_where_nothing_is_collected(make_offline):
    state = checkpoint.run_state(make_offline().learn(16).run, replay=False)
    state["manifest"]["contents"].remove("environments")
    told = ["the replay was left out of the checkpoint"]
    assert checkpoint.restore(make_offline().run, state) == told
