"""The key of compiled updates on disk: everything that may change a library is a part of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from rlk_compile.backend import Strategy
from rlk_compile.kept import cache_key
from rlk_compile.kept.cache_key import _compiler, _own_version, _processor, key
from rlk_compile.sources import hashed, unchanged


@dataclass
class Small:
    """A batch."""

    x: Tensor = field(default_factory=lambda: torch.zeros(2))
    y: Tensor | None = None
    key: str = ""


class Renames:
    """A pass, of which there is another version."""

    name = "renames"

    def __init__(self, identity: str) -> None:
        self.identity = identity


AHEAD = Strategy("inductor", ahead=True)
BATCH = Small()
THREADS = torch.get_num_threads()


def key_now(
    update: Any = hashed, batch: Any = BATCH, strategies: Any = (AHEAD,), cxx: str | None = None
) -> str:
    """The key as a new process would make it."""
    for once in (_own_version, _processor, _compiler):
        once.cache_clear()
    return key(update, batch, strategies, cxx)


@pytest.fixture(autouse=True)
def asked_again() -> Iterator[None]:
    """Later tests know nothing of what is pretended here."""
    yield
    for once in (_own_version, _processor, _compiler):
        once.cache_clear()


# ---- torch, Python and the environment -----------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "undo"),
    [
        (lambda: torch.set_default_dtype(torch.float64),
         lambda: torch.set_default_dtype(torch.float32)),
        (lambda: torch.set_num_threads(THREADS + 1), lambda: torch.set_num_threads(THREADS)),
        (lambda: torch.set_grad_enabled(False), lambda: torch.set_grad_enabled(True)),
        (lambda: torch.use_deterministic_algorithms(True),
         lambda: torch.use_deterministic_algorithms(False)),
        (lambda: torch.set_default_device("meta"), lambda: torch.set_default_device(None)),
    ],
    ids=["dtype", "threads", "gradients", "deterministic", "device"],
)  # fmt: skip
def test_a_setting_of_torch_is_a_part_of_it(
    change: Callable[[], None], undo: Callable[[], None]
) -> None:
    before = key_now()
    assert key_now() == before
    try:
        change()
        assert key_now() != before
    finally:
        undo()
    assert key_now() == before


@pytest.mark.parametrize(("owner", "name"), [(torch, "__version__"), (sys, "version")])
def test_another_version_of_torch_or_python_has_another_key(
    owner: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key_now()
    monkeypatch.setattr(owner, name, "another")
    assert key_now() != before


def test_of_the_environment_only_inductors_options_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_now()
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "/elsewhere")
    monkeypatch.setenv("SOMEONE_ELSES_OPTION", "1")
    assert key_now() == before
    monkeypatch.setenv("TORCHINDUCTOR_FREEZING", "1")
    monkeypatch.setenv("TORCHINDUCTOR_COMMENT_ORIGIN", "1")
    other = key_now()
    assert other != before
    monkeypatch.setenv("TORCHINDUCTOR_FREEZING", "0")
    assert key_now() != other
    monkeypatch.delenv("TORCHINDUCTOR_FREEZING")
    monkeypatch.setenv("TORCHINDUCTOR_FREEZING", "1")
    assert key_now() == other, "in another order"


def test_another_version_of_this_package_has_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_key, "__file__", str(tmp_path / "kept" / "cache_key.py"))
    (tmp_path / "one.py").write_text("TAU = 0.5\n")
    before = key_now()
    (tmp_path / "notes.txt").write_text("nothing is compiled differently\n")
    assert key_now() == before
    (tmp_path / "one.py").write_text("TAU = 0.25\n")
    assert key_now() != before
    (tmp_path / "one.py").write_text("TAU = 0.5\n")
    assert key_now() == before
    (tmp_path / "one.py").rename(tmp_path / "other.py")
    assert key_now() != before


# ---- the processor -------------------------------------------------------------------------------

CORE = """processor : {number}
model name : {model}
cpu MHz : {speed}
flags : {flags}
"""


def test_a_processor_is_known_by_its_model_and_instruction_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(cache_key, "_CPUINFO", file)

    def with_cores(*speeds: int, model: str = "EPYC", flags: str = "avx2 fma") -> str:
        cores = [
            CORE.format(number=number, model=model, speed=speed, flags=flags)
            for number, speed in enumerate(speeds)
        ]
        file.write_text("\n".join(cores))
        return key_now()

    before = with_cores(3000)
    assert with_cores(1200, 3100) == before, "how fast it runs now, and how many cores are lent"
    assert len({before, with_cores(3000, model="Xeon"), with_cores(3000, flags="avx2")}) == 3


def test_a_processor_of_arm_tells_its_instruction_sets_by_another_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(cache_key, "_CPUINFO", file)
    file.write_text("processor : 0\nFeatures : fp asimd\n")
    before = key_now()
    file.write_text("processor : 0\nFeatures : fp asimd sve\n")
    assert key_now() != before


@pytest.mark.parametrize("tells", [True, False])
def test_the_instruction_sets_that_torch_uses_are_a_part_of_it(
    tells: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be limited, by `ATEN_CPU_CAPABILITY`, whatever the processor has."""
    if not tells:
        monkeypatch.setattr(cache_key, "_CPUINFO", tmp_path / "not on this system")
    before = key_now()
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "another")
    assert key_now() != before


# ---- the compiler --------------------------------------------------------------------------------


def compiler(path: Path, version: str) -> str:
    """A program that tells a version."""
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o700)
    return str(path)


def test_another_compiler_has_another_key(tmp_path: Path) -> None:
    ours, other = compiler(tmp_path / "g++", "14.2"), compiler(tmp_path / "clang++", "14.2")
    before = key_now(cxx=ours)
    assert len({before, key_now(cxx=other), key_now(cxx=None)}) == 3
    assert key_now(cxx=ours) == before
    compiler(tmp_path / "g++", "15.1")
    assert key_now(cxx=ours) != before


def test_a_compiler_is_asked_once_in_a_process(tmp_path: Path) -> None:
    cxx = compiler(tmp_path / "g++", "14.2")
    before = key_now(cxx=cxx)
    compiler(tmp_path / "g++", "15.1")
    assert key(hashed, BATCH, [AHEAD], cxx) == before


def test_a_link_to_another_compiler_of_the_same_version_has_another_key(tmp_path: Path) -> None:
    link = tmp_path / "c++"
    link.symlink_to(compiler(tmp_path / "g++", "14.2"))
    before = key_now(cxx=str(link))
    link.unlink()
    link.symlink_to(compiler(tmp_path / "clang++", "14.2"))
    assert key_now(cxx=str(link)) != before


def test_a_link_to_ccache_is_asked_by_the_name_that_it_has(tmp_path: Path) -> None:
    program = tmp_path / "ccache"
    program.write_text('#!/bin/sh\ncat "$0.version"\n')
    program.chmod(0o700)
    cxx = tmp_path / "g++"
    cxx.symlink_to(program)
    version = tmp_path / "g++.version"
    version.write_text("12")
    before = key_now(cxx=str(cxx))
    version.write_text("14")
    assert key_now(cxx=str(cxx)) != before


def test_a_compiler_that_tells_no_version_is_known_by_its_path() -> None:
    assert len({key_now(cxx="/nowhere/g++"), key_now(cxx="/nowhere/clang++")}) == 2


def test_a_compiler_that_does_not_answer_is_known_by_its_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def waits(command: list[str], **how: Any) -> Any:
        raise subprocess.TimeoutExpired(command, how["timeout"])

    monkeypatch.setattr(subprocess, "run", waits)
    assert "/nowhere/g++" in key_now(cxx="/nowhere/g++")


# ---- the update and its batch --------------------------------------------------------------------


def named(module: str, name: str) -> Any:
    def update(batch: Any, optimise: Any) -> None:
        return None

    update.__module__, update.__qualname__ = module, name
    return update


def test_another_update_has_another_key() -> None:
    updates = [named("mine", "A.update"), named("mine", "B.update"), named("its", "A.update")]
    assert len({key_now(update) for update in updates}) == 3
    assert key_now(hashed) != key_now(unchanged)


def test_a_batch_of_another_key_or_with_other_tensors_has_another_key() -> None:
    x = torch.zeros(2, 2)
    others = [
        Small(x),
        Small(x, key="moves target"),
        Small(x[:1]),
        Small(x.double()),
        Small(torch.zeros(2, 4)[:, ::2]),
        Small(None, x),  # type: ignore[arg-type]
        Small(x, x),
    ]
    assert len({key_now(batch=batch) for batch in others}) == len(others)
    assert key_now(batch=Small(torch.ones(2, 2))) == key_now(batch=Small(x)), "other numbers"


def test_other_ways_to_compile_and_other_passes_have_another_key() -> None:
    one, other = (Strategy("inductor", True, passes=(Renames(text),)) for text in "12")  # type: ignore[arg-type]
    several = [(AHEAD,), (Strategy("inductor"),), (AHEAD, Strategy("inductor")), (one,), (other,)]
    assert len({key_now(strategies=strategies) for strategies in several}) == len(several)
