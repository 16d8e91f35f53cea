"""Settings in layers: which one counts, and who may contradict whom."""

from __future__ import annotations

import attrs
import pytest

from rlk.errors import PlanError
from rlk.planning.layers import CALLER, UNSET, Origin, Rank, Setting, SettingLayers


@pytest.fixture
def layers():
    return SettingLayers("algo", {"policy": "policies"})


def test_ranks_count_in_the_order_that_users_are_told():
    assert (
        Rank.DEFAULT
        < Rank.ALGORITHM
        < Rank.PRESET
        < Rank.PATCH
        < Rank.FILE
        < Rank.SAVED
        < Rank.USER
        < Rank.DERIVED
    )


def test_setting_a_key_leaves_the_layers_as_they_were(layers):
    more = layers.with_setting("gamma", 0.5, CALLER)
    assert layers.find("gamma") is UNSET and not layers.find("gamma").is_set
    assert more.find("gamma") == Setting(0.5, CALLER)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        more.find("gamma").value = 0.6


@pytest.mark.parametrize("ranks", [(Rank.PRESET, Rank.USER), (Rank.USER, Rank.PRESET)])
def test_the_highest_rank_counts_whatever_was_set_first(layers, ranks):
    for rank in ranks:
        layers = layers.with_setting("gamma", int(rank), Origin(rank.name, rank))
    assert layers.find("gamma") == Setting(int(Rank.USER), Origin("USER", Rank.USER))
    assert [key for key, _ in layers] == ["algo.gamma", "algo.gamma"]
    assert [setting.rank for _, setting in layers] == [Rank.PRESET, Rank.USER]


def test_a_key_without_a_dot_is_the_algorithms_unless_it_is_a_slot_or_of_the_run(layers):
    for key in ("gamma", "policy", "n_envs", "policy.size"):
        layers = layers.with_setting(key, 1, CALLER)
    assert [key for key, _ in layers] == ["algo.gamma", "policy", "n_envs", "policy.size"]
    assert layers.find("algo.gamma") == layers.find("gamma")


def test_two_of_one_rank_may_agree_and_not_contradict_each_other(layers):
    one, two = Origin("one", Rank.PATCH), Origin("two", Rank.PATCH)
    layers = layers.with_setting("gamma", 0.5, one)
    assert layers.with_setting("gamma", 0.5, two).find("gamma").origin == one
    with pytest.raises(PlanError, match=r"one and two propose .* 'gamma': 0.5 and 0.6"):
        layers.with_setting("gamma", 0.6, two)
    users = layers.with_setting("gamma", 0.7, CALLER)
    assert users.with_setting("gamma", 0.6, two).find("gamma").value == 0.7
    filled = layers.with_setting("policy", "mlp", CALLER)
    with pytest.raises(PlanError, match="'mlp' and 'cnn' both fill the slot 'policy'"):
        filled.with_setting("policy", "cnn", CALLER)
