"""A formula is written once: faster versions are extensions, and are named elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("algorithms", "policies", "distributions")
SOURCES = [file for kind in FOLDERS for file in ROOT.glob(f"plugins/{kind}/*/src/**/*.py")]
#: A second copy in numpy, what traces and compiles, and private names of torch.
FOREIGN = re.compile(
    r"numpy[_ ](?:twin|forward|gradient|loss|sample|mode|action)"
    r"|is_compiling|torch\.(?:compiler|compile|jit|fx)\b"
    r"|\b(?:torch|F|nn)(?:\.\w+)*\._[a-z]\w*|\baten\b"
)


def foreign(text: str) -> list[str]:
    """Words that a source file of formulas must not contain."""
    return [match.group() for match in FOREIGN.finditer(text)]


def test_algorithms_policies_and_distributions_name_no_numpy_copy_and_no_compiler() -> None:
    assert len(SOURCES) > 30
    found = {str(file.relative_to(ROOT)): foreign(file.read_text()) for file in SOURCES}
    assert not {file: names for file, names in found.items() if names}


@pytest.mark.parametrize(
    "text",
    [
        "def numpy_forward(self): ...",
        '"""Acts by a numpy twin."""',
        "if torch.compiler.is_compiling(): ...",
        "torch._fused_adam_(flat)",
        "F._canonical_mask(x)",
        "distribution.numpy_sample(parameters, noise)",
        "from torch._dynamo import allow_in_graph",
        "torch.ops.aten.native_layer_norm(x)",
        "self.act = torch.jit.script(act)",
    ],
)
def test_what_does_not_belong_is_found(text: str) -> None:
    assert foreign(text)


def test_torch_and_numpy_themselves_belong() -> None:
    text = "twin critics: torch.min(q, 0); np.stack(rows); torch.nn.functional.relu(x)"
    assert foreign(text) == []
