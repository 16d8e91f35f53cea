"""`get_system_info`: versions for bug reports."""

from __future__ import annotations

import platform
from importlib.metadata import version

import torch


def get_system_info(print_info: bool = True) -> tuple[dict[str, str], str]:
    """Versions by name, and the same as lines of text; `print_info` prints the text, too."""
    found = {
        "OS": f"{platform.platform()} {platform.version()}",
        "Python": platform.python_version(),
        **{name: version(name) for name in ("rlk-kernel", "gymnasium", "numpy")},
        "PyTorch": str(torch.__version__),
        "GPU Enabled": str(torch.cuda.is_available()),
    }
    text = "".join(f"- {name}: {value}\n" for name, value in found.items())
    if print_info:
        print(text)
    return found, text
