"""What must be passed again to use a saved run, as `summary` prints it."""

from __future__ import annotations

from typing import Any

import pytest

import rlk
from rlk_callbacks.to_pass_again import ToPassAgain, to_pass_again
from rlk_testing.environments import Walk


class TakesAVehicle(Walk):
    def __init__(self, vehicle: Any = None) -> None:
        super().__init__()


def test_a_file_to_write_to_is_passed_again_unless_it_is_the_default() -> None:
    for given in ({}, {"monitor.filename": "mine"}):
        with rlk.make("a2c", env="CartPole-v1", plugins=["monitor"], **given) as agent:
            typed = [("--set", f"{key}={value}") for key, value in given.items()]
            assert to_pass_again(agent.plan, observers=True) == (typed, [])
            assert to_pass_again(agent.plan, observers=False) == ([], [])


@pytest.mark.parametrize(
    ("keywords", "again"),
    [
        (
            {"vehicle": "json.decoder.JSONDecoder"},
            "{'evaluation.env_kwargs': {'vehicle': 'json.decoder.JSONDecoder'}}",
        ),
        ({"vehicle": len}, "{'evaluation.env_kwargs': …}"),
        ({"vehicle": "12:30"}, None),
    ],
)
def test_keywords_of_an_environment_of_its_own_are_passed_again_if_no_file_gives_them(
    keywords: dict[str, Any], again: str | None
) -> None:
    settings = {"evaluation.env_kwargs": keywords}
    with rlk.make("a2c", env=TakesAVehicle, plugins=["evaluation"], settings=settings) as agent:
        asked = to_pass_again(agent.plan, observers=True).keywords
    assert asked[1:] == ([] if again is None else [f"settings={again}"])


def test_a_program_passes_all_of_it_as_keywords() -> None:
    plugins = [("--plugin", "./a.py:X"), ("--plugin", "b:Y")]
    changes = [("--set", "policy=./n.py:Net"), ("--set", 'csv.files=["a", "b"]')]
    objects = [("plugins", "…"), ("noise", "Mine"), ("evaluation.env", "…")]
    again = ToPassAgain([("--env", "m:Maze"), *plugins, *changes], objects)
    assert again.keywords == [
        "env='m:Maze'",
        "policy='./n.py:Net'",
        "noise=Mine",
        "settings={'csv.files': ['a', 'b'], 'evaluation.env': …}",
        "plugins=['./a.py:X', 'b:Y', …]",
    ]
    assert ToPassAgain([], []).keywords == []
