"""The promises of presets, read from their files."""

import pytest

from rlk.errors import PlanError, RlkError
from rlk_presets.promises import ZOOS, Promise, Source, promises
from rlk_presets.zoo import ABOUT, Zoo

ZOO = Zoo()


def promise(mean_return, stated=None):
    source = Source(zoo="Z2", mean_return=mean_return)
    return Promise(source=source, timesteps=1000, stated=stated)


@pytest.mark.parametrize(("figure", "least"), [(200.0, 180.0), (-90.0, -100.0), (0.0, 0.0)])
def test_nine_tenths_of_the_source_are_promised(figure, least):
    assert promise(figure).least == pytest.approx(least)


def test_an_entry_may_say_itself_what_it_promises():
    assert promise(200.0, stated=120.0).least == 120.0


def test_nothing_is_promised_where_nothing_is_known_of_the_source():
    assert promise(None).least is None


@pytest.mark.parametrize("algo", ZOO.algorithms())
def test_every_entry_says_where_it_comes_from(algo):
    found = promises(algo)
    assert found.keys() == ZOO.entries(algo).keys()
    assert {one.source.zoo for one in found.values()} <= ZOOS.keys()
    assert any(one.least is not None for one in found.values())


@pytest.mark.parametrize("algo", ZOO.algorithms())
def test_what_an_entry_says_of_its_source_is_no_setting(algo):
    assert not [env for env, settings in ZOO.entries(algo).items() if set(ABOUT) & settings.keys()]


def test_the_files_are_read_as_they_stand():
    found = promises("trpo")["LunarLander-v3"]
    assert found.source == Source(zoo="Z2", env="LunarLander-v2", mean_return=149.3)
    assert found.timesteps == ZOO.entries("trpo")["LunarLander-v3"]["total_timesteps"] == 2_000_000


@pytest.mark.parametrize(
    ("source", "wrong"), [({"zoo": "Z9"}, "Z2, Z3, SB3"), ({"zoo": "Z2", "mean": 3.0}, "mean")]
)
def test_a_source_that_is_not_understood_is_named(monkeypatch, source, wrong):
    table = {**ZOO.tables("ppo2")["CartPole-v1"], "source": source}
    monkeypatch.setattr(Zoo, "tables", lambda self, algo: {"CartPole-v1": table})
    with pytest.raises(RlkError, match=f"(?s)source of ppo2 on CartPole-v1.*{wrong}"):
        promises("ppo2")


def test_an_environment_with_goals_promises_successes():
    found = promises("dqn")["rlk/BitFlipping-v0"]
    assert (found.measure, found.least) == ("success_rate", 0.95)
    assert promises("dqn")["CartPole-v1"].measure == "mean_return"


def test_a_measure_that_nobody_takes_is_refused(monkeypatch):
    table = {**ZOO.tables("ppo2")["CartPole-v1"], "measure": "mean_reward"}
    monkeypatch.setattr(Zoo, "tables", lambda self, algo: {"CartPole-v1": table})
    told = "the preset of ppo2 on CartPole-v1: measure is one of mean_return, success_rate, not"
    with pytest.raises(PlanError, match=f"{told} 'mean_reward'"):
        promises("ppo2")
