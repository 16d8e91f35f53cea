"""A graph as a library in a file: built once, then loaded in milliseconds without a compiler.

torch calls this AOTInductor. Loading needs neither Dynamo nor inductor, which take long to import.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, fx

from rlk_compile.trace import Execute


def library(graph: fx.GraphModule, inputs: Sequence[Tensor], options: dict[str, Any]) -> Path:
    """The file of a graph compiled for tensors like these, in inductor's folder.

    If it calls operators that are not torch's own, they are listed in a file of the same name
    beside it, which ends in `.json`.
    """
    _differentiate(graph)
    with torch.enable_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch's own, of its own functions
        made = torch._inductor.aot_compile(graph, tuple(inputs), options=options)
    return Path(cast(str, made))


def _differentiate(graph: fx.GraphModule) -> None:
    """Enable autograd at the start of the graph.

    torch disables it for a graph whose inputs do not require gradients.
    """
    first = next(node for node in graph.graph.nodes if node.op != "placeholder")
    with graph.graph.inserting_before(first):
        graph.graph.call_function(torch._C._set_grad_enabled, (True,))
    graph.recompile()


def loaded(path: Path) -> Execute:
    """The function of a library: tensors in, tensors out.

    Raises:
        RuntimeError: if it cannot be loaded.
    """
    runner = cast(Any, torch._C)._aoti.AOTIModelContainerRunnerCpu(str(path), 1)

    def execute(*inputs: Tensor) -> Sequence[Tensor]:
        found: list[Tensor] = runner.run(list(inputs))
        return found

    return execute
