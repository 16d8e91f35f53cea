"""Algorithms, policies and distributions say what is computed, in torch; speed has other homes.

None of them names a numpy version of a formula (`numpy-acting` has those), a tracing compiler
(`compile`), or a private name of torch, which a later version may not have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KINDS = ("algorithms", "policies", "distributions")
FILES = [file for kind in KINDS for file in sorted(ROOT.glob(f"plugins/{kind}/*/src/**/*.py"))]
NUMPY_VERSION = re.compile(r"_?numpy_\w+|NumpyForward")
COMPILER = re.compile(r"torch\.(compile|compiler|_dynamo|_inductor|jit|fx)(\.|$)")
PRIVATE = re.compile(r"torch\.(.*\.)?_(?!_)")


def offences(source: str) -> list[str]:
    """What this source names that belongs elsewhere, one line each."""
    tree = ast.parse(source)
    aliases = _names_of_torch(tree)
    found = []
    for node in ast.walk(tree):
        for name in _identifiers(node):
            if NUMPY_VERSION.fullmatch(name):
                found.append(f"line {node.lineno}: {name} is a numpy version of a formula")
            if name == "is_compiling":
                found.append(f"line {node.lineno}: {name} asks for a tracing compiler")
        for path in _paths(node, aliases):
            if COMPILER.match(path):
                found.append(f"line {node.lineno}: {path} is a compiler's")
            elif PRIVATE.match(path):
                found.append(f"line {node.lineno}: {path} is private to torch")
    return found


def _names_of_torch(tree: ast.Module) -> dict[str, str]:
    """Local name -> what of torch it stands for: `F` -> `torch.nn.functional`."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "torch":
                    found[alias.asname or "torch"] = alias.name if alias.asname else "torch"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _identifiers(node: ast.AST) -> Iterator[str]:
    """The names that a node defines, reads or calls, and whole strings (for `getattr`)."""
    for field in ("id", "attr", "name", "arg", "asname"):
        if isinstance(getattr(node, field, None), str):
            yield getattr(node, field)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _paths(node: ast.AST, aliases: dict[str, str]) -> Iterator[str]:
    """Dotted paths into torch that a node imports or reads."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Attribute):
        parts, inner = [node.attr], node.value
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in aliases:
            yield ".".join([aliases[inner.id], *reversed(parts)])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_it_names_no_numpy_version_no_compiler_and_nothing_private_of_torch(file: Path) -> None:
    assert not offences(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "planted",
    [
        "class Layer:\n    def numpy_forward(self): ...",
        "distribution.numpy_sample(parameters, noise)",
        "make = getattr(module, 'numpy_forward', None)",
        "from rlk_networks import NumpyForward",
        "self._numpy_act = None",
        "import torch\nif torch.compiler.is_compiling(): ...",
        "from torch.compiler import is_compiling",
        "import torch\nfast = torch.compile(slow)",
        "import torch._dynamo",
        "from torch import _inductor as inductor",
        "import torch\ntorch._foreach_add_(a, b)",
        "import torch\ntorch.nn.functional._none_or_dtype(x)",
        "from torch.nn import functional as F\nF._canonical_mask(x)",
        "from torch.nn.functional import _in_projection",
        "import torch.nn as nn\nnn.modules._functions.SyncBatchNorm",
    ],
)
def test_a_planted_offence_is_found(planted: str) -> None:
    assert offences(planted)


ALLOWED = """
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self._size = 3

    def forward(self, x):
        return F.relu(torch.addmm(self._bias, x, self.weight))

    def noise(self, rng):
        return torch.from_numpy(rng.normal()).numpy()

print(torch.__version__)
"""


def test_what_is_allowed_is_not_taken_for_an_offence() -> None:
    assert offences(ALLOWED) == []
