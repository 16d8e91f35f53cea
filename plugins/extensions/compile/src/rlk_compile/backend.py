"""Compiles a graph to a function: with inductor, as a library or a CUDA graph where possible."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import torch
from torch import Tensor, fx

from rlk_compile.ahead_of_time import library, loaded
from rlk_compile.config import CompileConfig
from rlk_compile.cuda_graph import Replay
from rlk_compile.narrow_gather import compare_columns
from rlk_compile.passes import Pass, in_inductor
from rlk_compile.split_bias import split_bias
from rlk_compile.trace import Execute, Stopped, Untraceable, reason_of

#: Sizes and strides are checked here, once per call, instead of by the compiled code.
OPTIONS: dict[str, Any] = {"size_asserts": False, "alignment_asserts": False}
#: The pattern matcher would join products and their biases again; computing tanh by exponentials
#: makes PPO2's update a fifth faster.
ON_CPU: dict[str, Any] = {"pattern_matcher": False, "cpp.use_decompose_tanh": True}
#: Otherwise inductor times several kernels for a sum, and takes the fastest: each adds in an order
#: of its own, so a resumed run could end with other numbers.
ON_GPU: dict[str, Any] = {"deterministic": True}


@attrs.frozen
class Strategy:
    """One way to compile.

    Attributes:
        backend: of the config. ahead: whether it makes a library, which can be kept on disk.
        cpp_wrapper: inductor's option. cuda_graphs: whether it is replayed as a CUDA graph.
        passes: to apply to the graph.
    """

    backend: str
    ahead: bool = False
    cpp_wrapper: bool = False
    cuda_graphs: bool = False
    passes: tuple[Pass, ...] = ()

    def __str__(self) -> str:
        parts = [self.backend]
        if self.ahead:
            parts.append("ahead of time")
        elif self.backend == "inductor":
            parts.append("C++ wrapper" if self.cpp_wrapper else "Python wrapper")
        parts += [each.name for each in self.passes]
        if self.cuda_graphs:
            parts.append("CUDA graph")
        return ", ".join(parts)

    def compile(
        self, graph: fx.GraphModule, inputs: Sequence[Tensor], moving: Sequence[int]
    ) -> Built:
        """Compile a graph for inputs like these; the moving ones are new tensors at every call."""
        if self.backend != "inductor":
            execute: Execute = torch._dynamo.lookup_backend(self.backend)(graph, list(inputs))
            return Built(self, execute)
        on_cpu = all(tensor.device.type == "cpu" for tensor in inputs)
        if on_cpu:
            split_bias(graph)
            compare_columns(graph)
        options = self.options(on_cpu)
        if self.ahead:
            path = library(graph, inputs, options)
            return Built(self, loaded(path), path)
        with warnings.catch_warnings():
            # Its advice is to compute less precisely than an eager update does.
            warnings.filterwarnings("ignore", "TensorFloat32", UserWarning)
            # Unlike `torch._inductor.compile`, it uses torch's cache of compiled graphs.
            execute = torch._inductor.standalone_compile(
                graph,
                list(inputs),
                dynamic_shapes="from_example_inputs",
                options={"config_patches": options},
            )
        return Built(self, Replay(execute, inputs, moving) if self.cuda_graphs else execute)

    def options(self, on_cpu: bool) -> dict[str, Any]:
        """Inductor's options, those that the installed one has."""
        options = {**OPTIONS, **(ON_CPU if on_cpu else ON_GPU)}
        if not self.ahead:
            options["cpp_wrapper"] = self.cpp_wrapper
        if self.passes:
            options["post_grad_custom_pre_pass"] = in_inductor(self.passes)
        known = torch._inductor.list_options()
        return {name: value for name, value in options.items() if name in known}


@attrs.frozen
class Built:
    """The result of compiling a graph.

    Attributes:
        execute: the function. library: the file that contains it, if there is one.
        why_not: why better strategies were not used, "" if there were none.
    """

    strategy: Strategy
    execute: Execute
    library: Path | None = None
    why_not: str = ""


def strategies(
    config: CompileConfig, device: str, cxx: str | None, ranks: int, passes: Sequence[Pass] = ()
) -> list[Strategy]:
    """The strategies to try, best first.

    Args:
        device: `cpu` or `cuda`. cxx: the C++ compiler, if there is one. ranks: of the run.
        passes: that apply here.

    Raises:
        Untraceable: if there is no strategy.
    """
    if config.backend != "inductor":
        return [Strategy(config.backend)]
    if device == "cpu" and cxx is None:
        install = "type xcode-select --install" if sys.platform == "darwin" else "install g++"
        raise Untraceable(
            f"no C++ compiler was found, which inductor needs on a CPU: {install}, or set CXX"
        )
    found = [Strategy("inductor")]
    # Several ranks compute means in Python, which neither a CUDA graph nor a library can call.
    if device == "cuda" and ranks == 1:
        found.insert(0, Strategy("inductor", cuda_graphs=True))
    elif device == "cpu" and ranks == 1:
        found.insert(0, Strategy("inductor", ahead=True))
    elif cxx is not None:
        found.insert(0, Strategy("inductor", cpp_wrapper=True))
    return found if not passes else [attrs.evolve(found[0], passes=tuple(passes)), *found]


def first_that_works(strategies: Sequence[Strategy], make: Callable[[Strategy], Built]) -> Built:
    """The result of the first strategy that compiles, and why those before it failed.

    Raises:
        Untraceable: if none compiles.
        Stopped: as soon as `make` raises it; no further one is tried.
    """
    failures: list[str] = []
    for strategy in strategies:
        try:
            return attrs.evolve(make(strategy), why_not="; ".join(failures))
        except Stopped:
            raise
        except Exception as error:
            failures.append(f"{strategy}: {reason_of(error)}")
    raise Untraceable("; ".join(failures))
