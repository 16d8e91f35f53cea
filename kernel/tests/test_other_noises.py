"""A checkpoint within episodes, and a run whose noise keeps something of another shape."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import attrs
import numpy as np
import pytest

from rlk import settings
from rlk.errors import BadFile
from rlk.running import checkpoint
from rlk.running.other_noises import naming_other_noises


@attrs.frozen(kw_only=True)
class HoldsConfig:
    length: int = attrs.field(default=4, **settings.setting("steps that are drawn together"))
    colour: str = attrs.field(default="pink", **settings.setting("of the noise"))


class Holds:
    """Keeps `length` numbers of every environment in its actor's carry, and changes no action."""

    def __init__(self, run, config):
        self.length = config.length

    def wrap(self, actor, policy):
        return HoldsActor(actor, self.length)


class HoldsActor:
    def __init__(self, actor, length):
        self.actor, self.length = actor, length

    def start(self, n_envs):
        drawn = np.zeros((n_envs, self.length), np.float32)
        return {"inner": self.actor.start(n_envs), "drawn": drawn}

    def begin(self, carry):
        return carry

    def metrics(self):
        return {}

    def act(self, observation, carry, episode_start, deterministic=False):
        found = self.actor.act(observation, carry["inner"], episode_start, deterministic)
        return found._replace(carry={**carry, "inner": found.carry})


@pytest.fixture
def make(make, rlk_stand_in_kernel):
    rlk_stand_in_kernel.registries.noises.register("holds", Holds, config=HoldsConfig)
    return partial(make, noise="holds")


def test_a_changed_setting_of_a_noise_is_named_with_what_to_type(make):
    state = checkpoint.run_state(make().learn(16).run)
    checkpoint.restore(make(holds={"colour": "brown"}).run, state)  # of no shape
    with pytest.raises(BadFile) as caught:
        checkpoint.restore(make(holds={"length": 2}).run, state)
    said = str(caught.value)
    assert "with the noise 'holds' and holds.length=4, and this run has holds.length=2" in said
    assert "Resume it with --set holds.length=4; a model (model.zip)" in said
    assert "carry.drawn is ndarray" in said, "what does not fit"


def test_every_setting_that_changed_is_named_as_it_is_typed(make):
    state = checkpoint.run_state(make().learn(16).run)
    with pytest.raises(BadFile, match=r"--set holds.length=4 --set holds.colour=pink; a model"):
        checkpoint.restore(make(holds={"length": 2, "colour": "brown"}).run, state)


def test_with_the_same_noise_the_error_stays_as_it_is():
    plan = SimpleNamespace(noises=[SimpleNamespace(name="holds", config=HoldsConfig())])
    as_saved = {"length": 4, "colour": "pink"}
    saved = {"components": [{"kind": "noises", "name": "holds", "settings": as_saved}]}
    with pytest.raises(BadFile, match=r"^damaged$"), naming_other_noises(plan, saved):
        raise BadFile("damaged")
