from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import attrs
import pytest

from rlk.errors import PlanError, UnknownName
from rlk.settings import convert, structure, unstructure


@attrs.frozen(kw_only=True)
class Config:
    rate: float | str | Callable[[float], float] = attrs.field(
        default=0.1, metadata={"help": "how fast"}
    )
    steps: int = attrs.field(
        default=3, validator=attrs.validators.ge(1), metadata={"help": "how many"}
    )
    flag: bool = False
    name: str = "x"
    layers: list[int] = attrs.field(factory=lambda: [64])
    kind: Literal["a", "b"] = "a"
    limit: int | None = None
    pair: tuple[str, ...] = ()


def made(**values):
    return structure(Config, values, "thing 'x' (rlk-x 1.0)")


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("rate", 1, 1.0),
        ("rate", "lin_0.1", "lin_0.1"),
        ("steps", 5, 5),
        ("steps", 5.0, 5),
        ("steps", 1e3, 1000),
        ("flag", True, True),
        ("layers", [1, 2], [1, 2]),
        ("layers", (1, 2), [1, 2]),
        ("kind", "b", "b"),
        ("limit", None, None),
        ("limit", 4, 4),
        ("pair", ["a", "b"], ("a", "b")),
    ],
)
def test_a_value_is_taken_in_its_type(key, value, kept):
    found = getattr(made(**{key: value}), key)
    assert found == kept and type(found) is type(kept)


def test_a_callable_is_kept_as_it_is():
    assert made(rate=abs).rate is abs


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("steps", 1.5, "steps must be a whole number, got 1.5"),
        ("steps", "3", "steps must be a whole number, got '3'"),
        ("steps", True, "steps must be a whole number, got True"),
        ("flag", 1, "flag must be true or false, got 1"),
        ("name", 3, "name must be a string, got 3"),
        ("rate", True, "rate must be"),
        ("rate", [1], "rate must be float or str or a callable"),
        ("kind", "c", "kind must be 'a' or 'b', got 'c'"),
        ("limit", "many", "limit must be int or none"),
        ("layers", ["x"], "layers must be"),
        ("layers", 3, "layers"),
    ],
)
def test_a_value_of_another_type_is_refused_by_name(key, value, message):
    with pytest.raises(PlanError) as caught:
        made(**{key: value})
    assert message in str(caught.value)
    assert "thing 'x' (rlk-x 1.0)" in str(caught.value)


def test_a_value_out_of_range_is_refused_with_the_validators_words():
    with pytest.raises(PlanError, match="'steps' must be >= 1: 0"):
        made(steps=0)


def test_an_unknown_key_shows_the_nearest_and_all_there_are():
    with pytest.raises(UnknownName) as caught:
        made(step=3)
    message = str(caught.value)
    assert "'step'" in message and "Did you mean 'steps'?" in message and "layers" in message


def test_a_union_takes_the_first_alternative_that_takes_the_value():
    assert convert(1, int | float) == 1
    assert convert(1.5, int | float) == 1.5
    assert convert(None, int | None) is None
    with pytest.raises(ValueError, match="must be int or none"):
        convert("x", int | None)


def test_the_text_none_is_none_wherever_none_is_allowed():
    assert convert("none", int | None) is None
    assert convert("none", str | None) is None
    assert convert("none", float | str | None) is None
    assert convert("none", str) == "none"


def test_a_config_is_written_as_json_values_and_a_callable_by_its_name():
    written = unstructure(made(rate=abs, layers=[1], pair=["a"]))
    assert written["rate"] == {"callable": "abs"}
    assert written["layers"] == [1] and written["pair"] == ["a"]
    assert unstructure(None) == {}


def test_what_was_written_is_read_again():
    config = made(steps=7, layers=[1, 2], kind="b", limit=3)
    assert made(**unstructure(config)) == config


def test_a_field_without_a_default_is_required():
    @attrs.frozen(kw_only=True)
    class Needs:
        size: int

    with pytest.raises(PlanError, match="size"):
        structure(Needs, {}, "thing")
