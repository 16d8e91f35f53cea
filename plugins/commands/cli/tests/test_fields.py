"""Settings as rows of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import attrs
import pytest

from rlk_cli.fields import fields_of, typed


@attrs.frozen(kw_only=True)
class Config:
    rate: float | str | Callable[[float], float] = attrs.field(
        default=0.1, metadata={"help": "how fast"}
    )
    steps: int = attrs.field(default=3, metadata={"help": "how many"})
    layers: list[int] = attrs.field(factory=lambda: [64])
    kind: Literal["a", "b"] = "a"
    limit: int | None = None
    size: int
    derived: int = attrs.field(init=False, default=1)


def test_every_field_is_listed_with_type_default_and_help():
    assert fields_of(Config) == [
        ("rate", "float or str or a callable", "0.1", "how fast", ()),
        ("steps", "int", "3", "how many", ()),
        ("layers", "list of int", "[64]", "", ()),
        ("kind", "'a' or 'b'", "a", "", ("a", "b")),
        ("limit", "int or none", "none", "", ()),
        ("size", "int", "required", "", ()),
    ]


def test_a_default_that_the_components_name_fixes_is_shown_instead():
    rows = {field.name: field.default for field in fields_of(Config, {"steps": 7})}
    assert (rows["steps"], rows["kind"]) == ("7", "a")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (True, "true"),
        (1e-8, "1e-08"),
        ("auto", "auto"),
        ([64, 64], "[64, 64]"),
        ((), "[]"),
        (["lstm", None], "[lstm, none]"),
    ],
)
def test_a_default_is_shown_as_it_is_typed(value, text):
    assert typed(value) == text
