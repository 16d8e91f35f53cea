"""Where it joins a run, that nothing but the time changes, and what happens where it cannot."""

from __future__ import annotations

import pytest
import torch

import rlk
from rlk_cpp_libraries import compiler
from rlk_cpp_priorities import tree
from rlk_cpp_priorities.tree import CppSumTree
from rlk_prioritized_replay.tree import SumTree
from rlk_testing.environments import BY_ACTION_SPACE

WITHOUT = "no:cpp-priorities"
DISCRETE = BY_ACTION_SPACE["Discrete"]
needs_a_compiler = pytest.mark.skipif(compiler() is None, reason="wants a C++ compiler")


@pytest.fixture
def made(rlk_make):
    def make(*plugins, **settings):
        often = {"learning_starts": 20, "buffer_size": 50, "n_envs": 2, "batch_size": 8}
        plugins = ["prioritized-replay", *plugins]
        return rlk_make("dqn", env=DISCRETE, seed=3, plugins=plugins, **often, **settings)

    return make


def tree_of(agent):
    return agent.run.storage._stages.decorators[0]._tree


@needs_a_compiler
def test_it_joins_by_itself_and_can_be_left_out(made):
    assert type(tree_of(made())) is CppSumTree
    assert type(tree_of(made(WITHOUT))) is SumTree


@needs_a_compiler
def test_a_plugin_that_makes_the_storage_itself_is_asked_before_it(made):
    class Makes:
        @rlk.hookimpl
        def rlk_make_storage(self, choice):
            return choice.make() if choice.name == "prioritized-replay" else None

    assert type(tree_of(made(Makes()))) is SumTree


@needs_a_compiler
def test_a_run_goes_on_with_or_without_it_bit_for_bit(made, tmp_path):
    whole, without = made("n-step"), made("n-step", WITHOUT)
    for agent in (whole, without):
        agent.learn_until(80)
    path = whole.save_checkpoint(tmp_path / "middle")
    with rlk.load(path, env=DISCRETE, plugins=[WITHOUT]) as resumed:
        for agent in (whole, without, resumed):
            agent.learn_until(160)
            assert type(tree_of(agent)) is (CppSumTree if agent is whole else SumTree)
            assert tree_of(agent).leaves.tobytes() == tree_of(whole).leaves.tobytes()
            assert torch.equal(agent.run.parameters.flat, whole.run.parameters.flat)


def test_without_a_compiler_numpy_does_it(made, monkeypatch):
    monkeypatch.setenv("CXX", "nowhere++")
    assert type(tree_of(made())) is SumTree


def test_what_cannot_be_built_is_told_and_numpy_does_it(made, monkeypatch, tmp_path):
    broken = tmp_path / "broken++"
    broken.write_text("#!/bin/sh\necho 'tree.cpp:9: error: no such thing' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    tree.library.cache_clear()
    with pytest.warns(UserWarning, match=r"to numpy: .*does not build tree.cpp: .*no such thing"):
        agent = made()
    assert type(tree_of(agent)) is SumTree
    tree.library.cache_clear()
