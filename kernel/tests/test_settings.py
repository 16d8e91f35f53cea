from __future__ import annotations

import json
import math
import pydoc
import re
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import Literal, Optional

import attrs
import numpy as np
import pytest

from rlk.errors import PlanError, UnknownName
from rlk.plain_values import plain
from rlk.planning.run_settings import RunSettings
from rlk.settings import (
    UNIT,
    above,
    at_least,
    at_most,
    below,
    between,
    documented,
    finite,
    fits_float32,
    setting,
    structure,
    type_name,
    unstructure,
)


@attrs.frozen(kw_only=True)
class Config:
    rate: float | str | Callable[[float], float] = attrs.field(default=0.1, **setting("how fast"))
    steps: int = attrs.field(default=3, **setting("how many", at_least(1)))
    flag: bool = False
    name: str = "x"
    layers: list[int] = attrs.field(factory=lambda: [64])
    kind: Literal["a", "b"] = "a"
    limit: int | None = None
    pair: tuple[str, ...] = ()
    either: int | float | None = 0
    range: tuple[float, int] = (0.0, 1)
    parts: dict[str, int] = attrs.field(factory=dict)
    more: dict[str, int] | None = None
    span: float | Span | Callable[[], float] = 1.0


class Span:
    """A length with its unit, which files hold as `3m`."""

    def __init__(self, length, unit="m"):
        self.length, self.unit = length, unit

    def as_setting(self):
        return None if callable(self.unit) else f"{self.length}{self.unit}"

    @classmethod
    def from_setting(cls, value):
        if isinstance(value, str) and value[:-1].isdigit():
            return cls(int(value[:-1]), value[-1])
        raise ValueError(f"must be a length such as 3m, got {value!r}")


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
        ("range", [1, 2], (1.0, 2)),
        ("steps", np.int64(5), 5),
        ("rate", np.float32(0.5), 0.5),
        ("flag", np.bool_(True), True),
        ("layers", [np.int64(7)], [7]),
        ("limit", np.arange(3)[1], 1),
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
        ("layers", "1,2", 'list of int, got \'1,2\'. A list is typed as ["a", "b"] or [1, 2].'),
        (
            "parts",
            "{a:1}",
            "got '{a:1}'. A table is typed as {a = 1, b = 2}, or key by key: NAME.a=1.",
        ),
        ("more", "{a:1}", "must be dict or none, got '{a:1}'. A table is typed as {a = 1, b = 2}"),
        ("range", [1], "range must be [float, int], got [1]"),
        ("range", [1, 0.5], "range must be a whole number, got 0.5"),
        ("range", 1, "range must be [float, int], got 1"),
        ("span", "3 m", "span must be a length such as 3m, got '3 m'"),
        ("span", [3], "span must be a length such as 3m, got [3]"),
    ],
)
def test_a_value_of_another_type_is_refused_by_name(key, value, message):
    with pytest.raises(PlanError) as caught:
        made(**{key: value})
    assert message in str(caught.value)
    assert "thing 'x' (rlk-x 1.0)" in str(caught.value)


def test_a_value_out_of_range_is_refused_with_the_validators_words():
    with pytest.raises(PlanError, match="steps must be at least 1, got 0"):
        made(steps=0)


@pytest.mark.parametrize(
    ("validator", "right", "wrong", "said"),
    [
        (at_least(1), [1, 2.5], [0, math.nan, None], "at least 1, got"),
        (above(0.0), [1e-9], [0, -1.0, math.nan], "above 0, got"),
        (at_most(1e6), [1e6, -3], [1e6 + 1], "at most 1000000, got 1000001.0"),
        (below(0.5), [0.4], [0.5, math.nan], "below 0.5, got"),
        (at_least(2, or_none=True), [None, 2], [1], "at least 2, or none, got 1"),
        (between(-1, 3), [-1, 3], [-1.5], "at least -1, got -1.5"),
        (UNIT, [0.0, 1.0], [1.1], "at most 1, got 1.1"),
    ],
)
def test_validators_of_numbers_say_their_bound_in_words(validator, right, wrong, said):
    made_of = attrs.make_class("Bounded", {"size": attrs.field(validator=validator)})
    for value in right:
        assert made_of(value).size == value
    for value in wrong:
        with pytest.raises(ValueError, match=f"^size must be {re.escape(said)}"):
            made_of(value)


def test_an_unknown_key_shows_the_nearest_and_where_all_are_listed():
    with pytest.raises(UnknownName) as caught:
        structure(Config, {"step": 3}, "thing 'x'", hint="See: the page of x")
    message = "unknown setting of thing 'x': 'step'. Did you mean 'steps'? See: the page of x"
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [1, 1.5, None])
def test_a_union_takes_the_first_alternative_that_takes_the_value(value):
    found = made(either=value).either
    assert found == value and type(found) is type(value)


def test_a_union_that_takes_the_value_nowhere_names_all_its_alternatives():
    with pytest.raises(PlanError, match="either must be int or float or none, got 'x'"):
        made(either="x")


def test_none_is_a_word_where_a_file_has_no_null():
    assert made(limit="none").limit is None and made(name="none").name == "none"


def test_the_text_none_is_none_wherever_none_is_allowed():
    @attrs.frozen(kw_only=True)
    class Optional:
        text: str | None = "a"
        either: float | str | None = 1.0

    found = structure(Optional, {"text": "none", "either": "none"}, "thing")
    assert found.text is None and found.either is None


def test_a_config_is_written_as_json_values_and_a_callable_by_its_name():
    written = unstructure(made(rate=abs, layers=[1], pair=["a"]))
    assert written["rate"] == {"callable": "abs"}
    assert written["layers"] == [1] and written["pair"] == ["a"]
    assert unstructure(None) == {}


def test_what_was_written_is_read_again():
    config = made(steps=7, layers=[1, 2], kind="b", limit=3)
    assert made(**unstructure(config)) == config


def test_an_object_is_written_as_what_a_user_would_type_and_read_again():
    config = made(span="3m")
    assert (config.span.length, config.span.unit) == (3, "m")
    assert unstructure(config)["span"] == "3m"
    assert made(span=2).span == 2.0 and made(span=abs).span is abs


def test_a_table_with_keys_that_json_would_make_texts_is_written_as_a_callable_is():
    assert plain({"a": [{1: 2.0}, {"1": 2.0}]}) == {"a": [{"callable": "{1: 2.0}"}, {"1": 2.0}]}


def test_an_object_that_no_file_can_hold_is_written_as_a_callable_is():
    assert "callable" in unstructure(Config(span=Span(3, unit=len)))["span"]


@attrs.frozen(kw_only=True)
class Places:
    data: Path = Path("data")
    cache: Path | None = None
    files: list[Path] = attrs.field(factory=list)
    by_name: dict[str, Path] = attrs.field(factory=dict)


def test_a_path_is_written_as_text_and_read_again():
    given = {
        "data": Path("here/x"),
        "cache": "there",
        "files": ["a", Path("b")],
        "by_name": {"a": "c"},
    }
    first = structure(Places, given, "x")
    assert first.data == Path("here/x") and first.cache == Path("there")
    written = unstructure(first)
    assert written == {
        "data": "here/x",
        "cache": "there",
        "files": ["a", "b"],
        "by_name": {"a": "c"},
    }
    assert structure(Places, json.loads(json.dumps(written)), "x") == first
    assert unstructure(Places()) == {"data": "data", "cache": None, "files": [], "by_name": {}}


def test_a_path_of_windows_is_written_as_all_systems_read_it():
    assert unstructure(Places(data=PureWindowsPath("here\\x")))["data"] == "here/x"


def test_what_is_no_path_is_refused():
    with pytest.raises(PlanError, match="x: data must be the path of a file or folder, got 3"):
        structure(Places, {"data": 3}, "x")


def test_the_word_none_is_typed_as_none_everywhere():
    @attrs.frozen(kw_only=True)
    class Words:
        shared: Literal["own", "none"] = "own"
        either: Literal["own", "none"] | None = "own"

    assert structure(Words, {"shared": None, "either": None}, "x") == Words(
        shared="none", either=None
    )
    assert structure(Words, {"shared": "none"}, "x").shared == "none"


def test_a_field_without_a_default_is_required():
    @attrs.frozen(kw_only=True)
    class Needs:
        size: int

    with pytest.raises(PlanError, match="size"):
        structure(Needs, {}, "thing")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (int, "int"),
        (list, "list"),
        (list[int], "list of int"),
        (tuple[str, ...], "list of str"),
        (int | None, "int or none"),
        (Optional[float], "float or none"),  # noqa: UP045
        (Literal["a", 1], "'a' or 1"),
        (Callable[[float], float], "a callable"),
        (type(None), "none"),
        (tuple[int, float], "[int, float]"),
        (list[int | str] | dict[str, int], "list of (int or str) or dict"),
    ],
)
def test_types_are_named_as_a_person_writes_them(kind, text):
    assert type_name(kind) == text


# ---- settings of a run ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("n_envs", 3, 3),
        ("n_envs", 3.0, 3),
        ("total_timesteps", 1e5, 100_000),
        ("total_timesteps", 0, 0),
        ("seed", None, None),
        ("seed", 0, 0),
        ("n_threads", None, None),
        ("device", "cuda:1", "cuda:1"),
        ("verbose", 0, 0),
    ],
)
def test_a_setting_of_a_run_is_taken_in_its_type(key, value, kept):
    found = getattr(structure(RunSettings, {key: value}, "a run"), key)
    assert found == kept and type(found) is type(kept)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n_envs", 0),
        ("n_envs", "two"),
        ("n_envs", None),
        ("total_timesteps", -1),
        ("log_interval", 0),
        ("n_threads", 0),
        ("seed", -3),
        ("device", 3),
        ("verbose", 0.5),
    ],
)
def test_a_wrong_one_is_refused_by_its_name(key, value):
    with pytest.raises(PlanError, match=key):
        structure(RunSettings, {key: value}, "a run")


@pytest.mark.parametrize("value", [math.inf, math.nan, 3.5e38, [1.0, -math.inf], [1.0, -1e300]])
def test_a_number_that_must_be_finite_is_refused_otherwise(value):
    @attrs.frozen(kw_only=True)
    class Spread:
        sigma: float | list[float] = attrs.field(default=1.0, validator=finite)

    assert structure(Spread, {"sigma": [1.0, 2.0]}, "x").sigma == [1.0, 2.0]
    with pytest.raises(PlanError, match=r"^x: sigma must be finite in float32 .*, got"):
        structure(Spread, {"sigma": value}, "x")


def test_a_bound_fits_into_float32_or_is_infinite():
    @attrs.frozen(kw_only=True)
    class Clip:
        clip: float | tuple[float, float] = attrs.field(default=1.0, validator=fits_float32)

    largest = float(np.finfo(np.float32).max)
    for value in (largest, -largest, math.inf, (-math.inf, 3.0)):
        assert structure(Clip, {"clip": value}, "x").clip == value
    for value in (2 * largest, -1e300, math.nan, (-1e300, 3.0)):
        with pytest.raises(PlanError, match=r"^x: clip must fit into float32 .*; type inf for no"):
            structure(Clip, {"clip": value}, "x")


def test_a_setting_has_a_help_text_a_validator_and_marks():
    @attrs.frozen
    class Config:
        every: int = attrs.field(default=1, **setting("how often", at_least(1), written=True))

    (field,) = attrs.fields(Config)
    marks = {"written": True, "read": False, "environment": False}
    assert field.metadata == {"help": "how often", **marks}
    with pytest.raises(ValueError, match="every"):
        Config(every=0)


@pytest.mark.parametrize("text", ["How it waits.", None], ids=["a docstring", "python -OO"])
def test_the_docstring_of_a_config_class_lists_its_settings(text):
    help_text = ", ".join(["how often"] * 20)

    class Waits:
        __doc__ = text
        every: int = attrs.field(default=1, **setting(help_text))
        seen: int = attrs.field(default=0, init=False)

    made = documented(attrs.frozen(kw_only=True)(Waits))
    about, listed = made.__doc__.split("Args:\n")
    assert about.strip() == (text or "")
    assert " ".join(listed.split()) == f"every: {help_text}"
    assert max(map(len, listed.splitlines())) <= 100
    assert made().__doc__ == made.__doc__ and "every: how often" in pydoc.render_doc(made)
