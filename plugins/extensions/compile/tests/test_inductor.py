"""Updates that inductor compiles: the same steps, kept for the next start, or a reason why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from compiled_runs import Weighs, compiled, eagerly, made

from rlk_compile.backend import Strategy
from rlk_compile.trace import Trace


def learnt(**settings: Any) -> tuple[Any, torch.Tensor]:
    """The report of a compiled update, and the parameters after a few updates."""
    with made(backend="inductor", **settings) as agent:
        agent.learn(80)
        (report,) = compiled(agent).reports.values()
        return report, agent.run.parameters.flat.clone()


def test_a_compiled_update_makes_the_eager_step_and_is_found_by_the_next_start(
    cache: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Trying out the compiler and precompiling headers takes longer than all of one small update.
    monkeypatch.setattr(torch._inductor.config.aot_inductor, "precompile_headers", False)
    monkeypatch.setattr(torch._inductor.config.aot_inductor, "compile_wrapper_opt_level", "O0")
    monkeypatch.setattr(torch._inductor.config.cpp, "vec_isa_ok", True)
    bare = {"compile": {"backend": "inductor", "passes": []}}
    report, parameters = learnt(**bare)
    assert report.strategy.startswith("inductor, ahead of time") and not report.from_cache
    assert not report.why_not and not report.not_cached
    assert torch.allclose(parameters, eagerly(steps=80), atol=1e-6)
    (place,) = cache.iterdir()
    assert place.stat().st_mode & 0o077 == 0, "it is code: nobody else may write it"

    monkeypatch.setattr(Trace, "__init__", None)  # nothing is traced from here on
    report, again = learnt(**bare, verbose=1)
    assert report.from_cache and again.equal(parameters)
    assert "is one graph, found compiled in" in capfd.readouterr().err
    monkeypatch.undo()


@pytest.mark.compiles
def test_what_is_kept_is_not_taken_where_it_is_another_update_or_damaged(cache: Path) -> None:
    learnt(compile={"backend": "inductor"})
    report, _ = learnt(algorithm=Weighs)
    assert not report.from_cache, "another class"
    (first, second) = sorted(cache.iterdir(), key=lambda place: place.stat().st_mtime)
    library = first / "update.so"
    library.write_bytes(library.read_bytes()[:-1])
    report, _ = learnt()
    assert not report.from_cache and len([*cache.iterdir()]) == 2 and second.exists()
    report, _ = learnt(compile={"backend": "inductor", "keep": False})
    assert not report.from_cache, "asked not to"


def test_without_a_compiler_it_runs_eagerly_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rlk_compile.update.compiler", lambda: None)
    with made(compile={"backend": "inductor", "passes": []}, verbose=1) as agent:
        agent.learn(40)
        assert compiled(agent).reasons
    assert "no C++ compiler was found, which inductor needs on a CPU: install g++" in (
        capfd.readouterr().err
    )


def test_a_user_without_a_home_has_no_cache_and_is_told_which_variable_to_set(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    # An eager strategy takes the place of the library, which takes half a minute to compile.
    monkeypatch.setattr("rlk_compile.update.strategies", lambda *_: [Strategy("eager", ahead=True)])
    with made(compile={"backend": "inductor", "passes": []}, verbose=1) as agent:
        agent.learn(40)
        (report,) = compiled(agent).reports.values()
    assert not report.from_cache
    assert "not kept for the next start: this user has no home, so set XDG_CACHE_HOME" in (
        capfd.readouterr().err
    )
