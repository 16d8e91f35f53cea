"""Kinds as people write them."""

import pytest

from rlk.errors import UnknownName
from rlk.registry.kinds import KINDS, singular
from rlk.registry.registry import Registry
from rlk_cli.kinds import kind_of


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_understood_in_singular_and_plural_with_dash_or_underscore(kind):
    one = singular(kind)
    for word in (kind, one, kind.replace("_", "-"), one.replace("-", "_").upper()):
        assert kind_of(word) == kind


def test_an_unknown_kind_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'storages'"):
        kind_of("storag")


def test_a_kind_that_a_plugin_adds_is_understood_as_well():
    assert kind_of("reward-model", [Registry("reward_models")]) == "reward_models"
