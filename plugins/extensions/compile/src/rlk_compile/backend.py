"""What makes a function of a graph: inductor, with C++ wrapper and CUDA graph where they pay."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import torch
from torch import Tensor, fx

from rlk_compile.config import CompileConfig
from rlk_compile.cuda_graph import Replay
from rlk_compile.native import products, suits_this_processor
from rlk_compile.products import split_bias, write_out_narrow
from rlk_compile.trace import Execute, Untraceable, reason_of

#: Checks of sizes and strides are made here, once per call, not by the compiled code.
OPTIONS: dict[str, Any] = {"size_asserts": False, "alignment_asserts": False}
#: The pattern matcher would put products and their biases together again; hyperbolic tangents by
#: exponentials are a fifth of PPO's update sooner.
ON_CPU: dict[str, Any] = {"pattern_matcher": False, "cpp.use_decompose_tanh": True}
COMPILERS = ("g++", "clang++", "c++")


@attrs.frozen
class Way:
    """One way to compile.

    Attributes:
        backend: of the config. cpp_wrapper: inductor's. cuda_graphs: replayed as one.
        own_products: the name of the C++ compiler that builds our product of matrices, "" for the
            library's.
    """

    backend: str
    cpp_wrapper: bool = False
    cuda_graphs: bool = False
    own_products: str = ""

    def __str__(self) -> str:
        parts = [self.backend]
        if self.backend == "inductor":
            parts.append("C++ wrapper" if self.cpp_wrapper else "Python wrapper")
        if self.own_products:
            parts.append("own products")
        if self.cuda_graphs:
            parts.append("CUDA graph")
        return ", ".join(parts)

    def compile(
        self, graph: fx.GraphModule, inputs: Sequence[Tensor], moving: Sequence[int]
    ) -> Execute:
        """A function of tensors like these, of which the moving ones differ from call to call."""
        execute: Execute
        if self.backend == "inductor":
            options = {**OPTIONS, "cpp_wrapper": self.cpp_wrapper}
            if all(tensor.device.type == "cpu" for tensor in inputs):
                options |= ON_CPU
                split_bias(graph)
                write_out_narrow(graph)
            if self.own_products:
                from rlk_compile.own_products import OwnProducts

                own = OwnProducts(products(self.own_products))
                options["post_grad_custom_pre_pass"] = own
            known = torch._inductor.list_options()
            options = {name: value for name, value in options.items() if name in known}
            # Unlike `torch._inductor.compile`, it looks into torch's cache of compiled graphs.
            execute = torch._inductor.standalone_compile(
                graph,
                list(inputs),
                dynamic_shapes="from_example_inputs",
                options={"config_patches": options},
            )
        else:
            execute = torch._dynamo.lookup_backend(self.backend)(graph, list(inputs))
        return Replay(execute, inputs, moving) if self.cuda_graphs else execute


def compiler() -> str | None:
    """The C++ compiler that inductor would find, or None."""
    told = os.environ.get("CXX")
    return next((name for name in ([told] if told else COMPILERS) if shutil.which(name)), None)


def ways(config: CompileConfig, device: str, cxx: str | None, ranks: int) -> list[Way]:
    """The ways to try, best first.

    Args:
        device: `cpu` or `cuda`. cxx: the C++ compiler, if there is one. ranks: of the run.

    Raises:
        Untraceable: if there is none.
    """
    if config.backend != "inductor":
        return [Way(config.backend)]
    if device == "cpu" and cxx is None:
        raise Untraceable(
            "no C++ compiler is found, which inductor needs on a CPU: install g++, or set CXX"
        )
    # Ranks talk to each other through Python, which a CUDA graph cannot replay.
    graphs = device == "cuda" and ranks == 1 and config.cuda_graphs is not False
    if config.cuda_graphs and not graphs:
        why = f"the device is {device}" if device != "cuda" else f"there are {ranks} ranks"
        raise Untraceable(f"cuda_graphs=true is set, but {why}")
    wrapped = cxx is not None if config.cpp_wrapper is None else config.cpp_wrapper
    if wrapped and cxx is None:
        raise Untraceable("cpp_wrapper=true is set, but no C++ compiler is found: install g++")
    found = [Way("inductor", cpp_wrapper=True)] if wrapped and not graphs else []
    if config.cpp_wrapper is not True or graphs:
        found.append(Way("inductor"))
    if config.own_products and device != "cpu":
        raise Untraceable(f"own_products=true is set, but the device is {device}: leave it out")
    own = suits_this_processor() if config.own_products is None else config.own_products
    if own and device == "cpu" and cxx is not None:
        found.insert(0, attrs.evolve(found[0], own_products=cxx))
    return [attrs.evolve(way, cuda_graphs=True) for way in found] + found if graphs else found


def first_that_works(
    tried: Sequence[Way], make: Callable[[Way], Execute]
) -> tuple[Way, Execute, str]:
    """The first way that compiles, what it made, and why those before it did not ("" if none).

    Raises:
        Untraceable: if none does.
    """
    failures: list[str] = []
    for way in tried:
        try:
            return way, make(way), "; ".join(failures)
        except Exception as error:
            failures.append(f"{way}: {reason_of(error)}")
    raise Untraceable("; ".join(failures))
