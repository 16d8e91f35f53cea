"""Damaged and forged models of other libraries: each is refused in words, or becomes a model."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from saved_there import of_lstms, of_stable_baselines, of_stable_baselines3

from rlk.errors import BadFile, RlkError
from rlk_baselines.refusals import Refused
from rlk_import.conversion import converted
from rlk_import.origin import origin_of
from rlk_testing.tools.forged_files import members, packed
from rlk_testing.tools.stable_baselines_pickles import packed as pickled

SB2, SB3, LSTMS = of_stable_baselines, of_stable_baselines3, of_lstms
#: What replaces settings, and keywords of policies.
JUNK: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, float("inf"), float("nan"), 10**9, 10**30, "", "abc"),
    *([], [1], [[[]]], {}, {"a": 1}, {":serialized:": 3}, {":serialized:": "!!!"}),
    *(pickled([[1]]), pickled({1: 2})),
)
KEYWORDS = (
    *("net_arch", "activation_fn", "act_fun", "optimizer_class", "optimizer_kwargs", "layers"),
    *("features_extractor_class", "features_extractor_kwargs", "lstm_kwargs", "n_lstm"),
)
CONTENTS = (b"", b"abc", b"[" * 100_000, b"\x80\x04", b"PK\x05\x06" + bytes(18))


def imported(path: Path) -> str:
    """Whether a file is loaded or refused; any other error is a fault."""
    try:
        converted(origin_of(path), "CartPole-v1").agent.close()
    except RlkError as error:
        assert str(error)
        return "refused"
    except (MemoryError, ValueError) as error:
        # The command says "not enough memory" for both.
        assert isinstance(error, MemoryError) or "Maximum allowed dimension" in str(error), error
        return "refused"
    return "loaded"


def with_settings(data: bytes, **changes: Any) -> bytes:
    found = members(data)
    found["data"] = json.dumps({**json.loads(found["data"]), **changes}).encode()
    return packed(list(found.items()))


def with_entry(data: bytes, name: str, content: bytes) -> bytes:
    return packed(list((members(data) | {name: content}).items()))


def saved_by_torch(value: Any) -> bytes:
    written = io.BytesIO()
    torch.save(value, written)
    return written.getvalue()


def saved_by_numpy(**arrays: Any) -> bytes:
    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


def damaged(data: bytes, rng: random.Random) -> bytes:
    """A file that is damaged in one of many ways."""
    found = members(data)
    settings = json.loads(found["data"])
    way, name = rng.randrange(6), rng.choice(sorted(found))
    if way <= 1:
        return with_settings(data, **{rng.choice(sorted(settings)): rng.choice(JUNK)})
    if way == 2:
        kwargs = {**settings["policy_kwargs"], rng.choice(KEYWORDS): rng.choice(JUNK)}
        return with_settings(data, policy_kwargs=kwargs)
    if way == 3:
        return with_entry(data, name, rng.choice(CONTENTS))
    if way == 4:
        return data[: rng.randrange(len(data))]
    content = data if rng.randrange(2) else found[name]
    flipped = bytearray(content)
    for _ in range(rng.choice((1, 3, 20))):
        flipped[rng.randrange(len(flipped))] = rng.randrange(256)
    return bytes(flipped) if content is data else with_entry(data, name, bytes(flipped))


def outcomes(make: Callable[[Path], Path], path: Path, count: int) -> Iterator[str]:
    data, rng = make(path).read_bytes(), random.Random(0)
    for _ in range(count):
        path.write_bytes(damaged(data, rng))
        yield imported(path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [SB2, SB3, LSTMS])
def test_damaged_files_are_refused_in_words_or_loaded(make: Any, tmp_path: Path) -> None:
    assert {*outcomes(make, tmp_path / "m.zip", 80)} == {"refused", "loaded"}


@pytest.mark.fuzz
@pytest.mark.timeout(3600)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [SB2, SB3, LSTMS])
def test_thousands_of_damaged_files_are_refused_in_words_or_loaded(
    make: Any, tmp_path: Path
) -> None:
    assert {*outcomes(make, tmp_path / "m.zip", 4_000)} == {"refused", "loaded"}


@pytest.mark.parametrize(
    ("make", "settings", "words"),
    [
        (SB2, {"n_envs": -1}, "n_envs is -1, not a whole number"),
        (SB2, {"n_envs": float("inf")}, "n_envs is inf, not a whole number"),
        (SB2, {"n_envs": 10**9}, "n_envs is 1000000000, not a whole number of 1 to 65536"),
        (SB2, {"policy_kwargs": [1]}, r"policy_kwargs are \[1\], not a dict"),
        (SB3, {"policy_kwargs": {"lstm_kwargs": "x"}}, "lstm_kwargs are 'x', not a dict"),
        (SB3, {"policy_kwargs": pickled({1: 2})}, "policy_kwargs are {1: 2}, not a dict"),
        (SB3, {"num_timesteps": "x"}, "num_timesteps is 'x', not a whole number"),
        (SB3, {"_stats_window_size": 10**30}, "_stats_window_size is 10000"),
    ],
)
def test_a_setting_that_no_model_has_is_damage(
    make: Any, settings: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = make(tmp_path / "m.zip")
    path.write_bytes(with_settings(path.read_bytes(), **settings))
    with pytest.raises(BadFile, match=rf"m\.zip is damaged: .*{words}"):
        origin_of(path)


@pytest.mark.parametrize("value", [None, "x", float("inf"), [1], {"a": 1}])
@pytest.mark.parametrize("name", ["n_steps", "batch_size"])
@pytest.mark.parametrize("make", [SB3, LSTMS])
def test_sizes_are_checked_before_anything_is_computed_from_them(
    make: Any, name: str, value: Any, tmp_path: Path
) -> None:
    path = make(tmp_path / "m.zip")
    path.write_bytes(with_settings(path.read_bytes(), **{name: value}))
    with pytest.raises(Refused, match=name):
        converted(origin_of(path), "CartPole-v1")


def garbage_in_numpys_zip() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as inner:
        inner.writestr("model/pi_fc0/w:0.npy", b"garbage")
    return written.getvalue()


@pytest.mark.parametrize(
    ("make", "name", "content", "words"),
    [
        (SB2, "data", b"[" * 100_000, "recursion"),
        (SB2, "data", b"[" * 200 + b"]" * 200, "nested too deep"),
        (SB2, "data", b"[1]", "settings are a list"),
        (SB2, "parameters", b"", "EOFError"),
        (SB2, "parameters", garbage_in_numpys_zip(), "is bytes, not an array of numbers"),
        (SB2, "parameters", saved_by_numpy(x=np.array(["a"])), "'x' is <U1, not an array"),
        (SB3, "data", b"[" * 100_000, "recursion"),
        (SB3, "policy.pth", b"abc", "parameters are more than tensors, or none"),
        (SB3, "policy.pth", saved_by_torch({1: torch.zeros(2)}), "a parameter is 1, not a text"),
        (SB3, "policy.pth", saved_by_torch({"x": torch.zeros(2) * 1j}), "'x' is complex64"),
    ],
)
def test_an_entry_with_something_else_is_damage(
    make: Any, name: str, content: bytes, words: str, tmp_path: Path
) -> None:
    path = make(tmp_path / "m.zip")
    path.write_bytes(with_entry(path.read_bytes(), name, content))
    with pytest.raises(BadFile, match=rf"m\.zip is damaged: .*{words}"):
        origin_of(path)
