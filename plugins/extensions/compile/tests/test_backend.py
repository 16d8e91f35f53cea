"""The choice of how to compile, and the replay of a CUDA graph, with stand-ins for the devices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from rlk_compile.backend import Built, Strategy, first_that_works, strategies
from rlk_compile.config import CompileConfig
from rlk_compile.cuda_graph import WARM_UP, Replay
from rlk_compile.trace import Retraced, Untraceable, reason_of


def shown(
    device: str = "cpu", cxx: str | None = "g++", ranks: int = 1, **settings: Any
) -> list[str]:
    return [str(strategy) for strategy in strategies(CompileConfig(**settings), device, cxx, ranks)]


def test_on_a_cpu_a_library_comes_first_and_python_calls_kernels_if_that_fails() -> None:
    assert shown() == ["inductor, ahead of time", "inductor, Python wrapper"]


def test_ranks_that_average_through_python_make_no_library() -> None:
    assert shown(ranks=2) == ["inductor, C++ wrapper", "inductor, Python wrapper"]


def test_with_passes_comes_first_and_without_them_if_that_fails() -> None:
    class Nothing:
        name, identity = "nothing", "1"

    found = strategies(CompileConfig(), "cpu", "g++", 1, [Nothing()])  # type: ignore[list-item]
    assert [str(strategy) for strategy in found] == [
        "inductor, ahead of time, nothing",
        "inductor, ahead of time",
        "inductor, Python wrapper",
    ]


def test_on_a_cpu_nothing_compiles_without_a_compiler() -> None:
    with pytest.raises(Untraceable, match=r"or set CXX"):
        shown(cxx=None)


@pytest.mark.parametrize(
    ("system", "how"),
    [
        ("linux", r"install g\+\+"),
        ("darwin", "xcode-select --install"),
    ],
)
def test_it_is_said_how_to_get_a_compiler_on_this_system(
    system: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", system)
    with pytest.raises(Untraceable, match=f"{how}.*, or set CXX"):
        shown(cxx=None)


def test_on_a_gpu_a_cuda_graph_comes_first_and_needs_no_wrapper() -> None:
    with_graph = "inductor, Python wrapper, CUDA graph"
    assert shown("cuda") == [with_graph, "inductor, Python wrapper"]
    assert shown("cuda", cxx=None) == [with_graph, "inductor, Python wrapper"]


def test_ranks_that_average_go_without_a_cuda_graph() -> None:
    assert shown("cuda", ranks=2) == ["inductor, C++ wrapper", "inductor, Python wrapper"]
    assert shown("cuda", cxx=None, ranks=2) == ["inductor, Python wrapper"]


def test_the_other_backends_only_trace() -> None:
    assert shown(backend="aot_eager", cxx=None) == ["aot_eager"]
    assert shown("cuda", backend="eager", cxx=None) == ["eager"]


def test_the_first_way_that_compiles_is_taken_and_the_others_reasons_are_kept() -> None:
    first, second = Strategy("inductor", ahead=True), Strategy("inductor")

    def make(strategy: Strategy) -> Built:
        if strategy == first:
            raise RuntimeError("no Python.h\nand much more")
        return Built(strategy, lambda: ["made"])

    made = first_that_works([first, second], make)
    assert (made.strategy, made.execute()) == (second, ["made"])
    assert made.why_not == "inductor, ahead of time: no Python.h"
    with pytest.raises(Untraceable, match=r"^inductor, ahead of time: no Python.h$"):
        first_that_works([first], make)


# ---- CUDA graphs ---------------------------------------------------------------------------------


class Stream:
    """A stream; `waited` is for whom."""

    def __init__(self) -> None:
        self.waited: list[Stream] = []

    def wait_stream(self, other: Stream) -> None:
        self.waited.append(other)


class Cuda:
    """Stands in for `torch.cuda`: a graph records what is called, and a replay calls it again."""

    Stream = Stream

    def __init__(self) -> None:
        self.main, self.entered, self.captured = Stream(), 0, 0
        self.recording: list[Any] | None = None

    def current_stream(self) -> Stream:
        return self.main

    @contextlib.contextmanager
    def stream(self, stream: Stream) -> Iterator[None]:
        assert stream.waited == [self.main], "work on the main stream must be done first"
        self.entered += 1
        yield

    def CUDAGraph(self) -> Any:
        self.made: list[Any] = []
        return type("Graph", (), {"replay": lambda graph: [call() for call in self.made]})()

    @contextlib.contextmanager
    def graph(self, graph: Any) -> Iterator[None]:
        assert self.main.waited, "the main stream must wait for the warm-up"
        self.captured += 1
        self.recording = self.made
        yield
        self.recording = None


def test_on_a_gpu_no_kernel_is_chosen_by_its_time() -> None:
    """Kernels add in orders of their own, so that a resumed run could end with other numbers."""
    assert Strategy("inductor", cuda_graphs=True).options(on_cpu=False)["deterministic"] is True
    assert "deterministic" not in Strategy("inductor").options(on_cpu=True)


def test_a_replay_moves_what_stays_and_reads_what_moves() -> None:
    cuda, total = Cuda(), torch.zeros(2)
    result = torch.empty(2)
    runs = []

    def execute(total: torch.Tensor, batch: torch.Tensor) -> list[torch.Tensor]:
        def work() -> None:
            runs.append(1)
            total.add_(batch)
            result.copy_(total * 10)

        if cuda.recording is not None:
            cuda.recording.append(work)  # a capture does not execute
        else:
            work()
        return [result]

    replay = Replay(execute, [total, torch.ones(2)], [1], cuda=cuda)
    assert (cuda.entered, cuda.captured, len(runs)) == (1, 1, WARM_UP)
    total.zero_()  # whoever makes one restores what the warm-up did
    (first,) = replay(total, torch.tensor([1.0, 2.0]))
    (second,) = replay(total, torch.tensor([5.0, 5.0]))
    assert total.tolist() == [6.0, 7.0]
    assert first.tolist() == [10.0, 20.0], "outputs outlive the next replay"
    assert second.tolist() == [60.0, 70.0]


def test_a_replay_copies_single_numbers_in_place_of_those_it_has() -> None:
    """In their order among the other outputs, whatever their kinds."""
    cuda, count = Cuda(), torch.zeros((), dtype=torch.int64)
    loss, norm, rows = torch.tensor(1.5), torch.tensor(2.5), torch.ones(2)
    replay = Replay(lambda: [loss, rows, count, "text", norm], [], [], cuda=cuda)
    found = replay()
    for kept, copied in zip([loss, rows, count, norm], [*found[:3], found[4]], strict=True):
        assert torch.equal(kept, copied)
        assert kept.dtype == copied.dtype
        kept.add_(1)  # what the next replay does
    assert found[3] == "text"
    assert [float(found[0]), found[1].tolist(), int(found[2])] == [1.5, [1.0, 1.0], 0]
    assert float(found[4]) == 2.5


def test_a_replay_refuses_a_tensor_that_was_to_stay_where_it_was() -> None:
    total = torch.zeros(1)
    replay = Replay(lambda total, batch: [], [total, torch.ones(1)], [1], cuda=Cuda())
    with pytest.raises(Retraced):
        replay(total.clone(), torch.ones(1))


def test_a_compilers_first_error_is_a_part_of_the_reason() -> None:
    printed = "CppCompileError: C++ compile error\n\nCommand:\ng++ a.cpp\n\nOutput:\n"
    printed += "In file included from a.cpp:1:\na.cpp:3:10: fatal error: x.h: No such file\n"
    printed += "a.cpp:9:1: error: expected ';'\n"
    expected = "CppCompileError: C++ compile error: x.h: No such file"
    assert reason_of(RuntimeError(printed)) == expected


def test_an_error_of_rlk_inside_a_trace_is_the_reason_and_one_without_words_is_its_class() -> None:
    told = RuntimeError("Observed exception\n  raised exception RlkError('it branches')\nmore")
    assert reason_of(told) == "it branches"
    assert reason_of(KeyError()) == "KeyError"
