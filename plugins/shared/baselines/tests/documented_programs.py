"""The code blocks of Stable Baselines' documentation as programs for `rlk_baselines`.

The documentation is text extracted from pages: a block may continue after a page break, long lines
are broken, and indentation and some letters are lost. This is repaired first. Then imports are
changed, endless loops end, and what takes long is shortened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCED = re.compile(r"^```[a-z]*\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_GOES_ON = "(continues on next page)"
_IS_PROGRAM = re.compile(r"stable_baselines\b.*import|^ *import |^model\b|^env = ", re.MULTILINE)
_IS_SIGNATURE = re.compile(r"^(class )?stable_baselines\.|\(\) \(|\(in module ")

#: Indentation that a page break removed: from the line that starts with the first text to the line
#: that starts with the second one (excluded) -> spaces.
INDENTED = (
    (":param check_freq: (int)", "# Create log dir", 4),
    ("        # New best model, you could", "    return True\n\n# Create", 4),
    ('"""\nA rollout is', "    def _on_step", 8),
    ('"""\nA rollout is', "def _on_step", 8),
    ('def _on_step(self) -> bool:\n    """\n    This method will', None, 4),
    (":param _obs: (np.ndarray) Current", "    return env.action_space", 4),
    ("super(CustomDDPGPolicy", "model = DDPG", 8),
    ("layers=[32, 32],", "# Create and wrap", 12),
    ("    # When loading a model", None, -4),
    ("action, _states = model.predict(obs)\nobs, rewards, dones, info", "env.close()", 4),
)
#: The extracted text -> the original text.
MENDED = {
    r"[ ]+$": "",
    r"[ ]*\n[ ]*[˓↪↴↵→]+[ ]*": "",
    r"[ ]*[↴↵][ ]*": " ",
    r"^(from .*import.*?),?[ ]*_?\\?\n[ ]+(\w)": r"\1, \2",
    r"import , ": "import ",
    r",[ ]*\\\n[ ]*": ", ",
    r", _\n[ ]+": ", ",
    r"(ones\(n|total)_\n\s*": r"\1_",
    r"video_\n\s*-": "video_",
    r"cartpole_\"tensorboard": "cartpole_tensorboard",
    r"^def model$": "del model",
    r"policy_kwarg\b": "policy_kwargs",
    r"CustomDQNPoly\b": "CustomDQNPolicy",
    r"^%matplotlib inline$": "",
    r"(``EvalCallback``\)\.\n)    \"\"\"\n": r"\1",
}
#: Imports -> their replacements.
IMPORTS = {
    r"\bstable_baselines\b": "rlk_baselines",
    r"^import gym\b": "from rlk_baselines import gym",
    r"^from gym import": "from rlk_baselines.gym import",
    r"^import pybullet_envs\b": "",
    r"^import highway_env\b": "",
    r"^import tensorflow as tf\b": "import torch",
    r"\btf\.nn\.tanh\b": "torch.tanh",
}
#: Code that takes long -> its short replacement.
SHORTENED = {
    r"^while True:": "for _ in range(10):",
    r"range\(1000\)": "range(20)",
    r"range\(350\)": "range(4)",
    r"for population_i in range\(100\)": "for population_i in range(2)",
    r"for iteration in range\(10\)": "for iteration in range(2)",
    r"n_epochs=1000": "n_epochs=2",
    r"n_timesteps=int\(1e5\)|n_timesteps=60000": "n_timesteps=200",
    r"n_episodes=10\b": "n_episodes=2",
    r"buffer_size=int\(1e6\)": "buffer_size=1000",
    r"batch_size=256": "batch_size=32",
    r"learn\(int\(1e10\)": "learn(int(300)",
}


@dataclass(frozen=True)
class Block:
    """A block of the documentation, and the number of its first line."""

    line: int
    text: str

    @property
    def program(self) -> str:
        """The block as a short program for `rlk_baselines`."""
        return changed(self.text, {**IMPORTS, **SHORTENED})


def blocks(documentation: str) -> list[Block]:
    """Every block of Python, repaired."""
    return [block for block in _joined(documentation) if _IS_PROGRAM.search(block.text)]


def _joined(documentation: str) -> Iterator[Block]:
    """Blocks, joined with their continuations after page breaks."""
    begun: Block | None = None
    for match in _FENCED.finditer(documentation):
        text, line = match[1], documentation.count("\n", 0, match.start()) + 2
        if _IS_SIGNATURE.search(text):
            continue
        block = Block(line, text) if begun is None else Block(begun.line, f"{begun.text}\n{text}")
        if _GOES_ON in documentation[match.end() : match.end() + 60]:
            begun = block
            continue
        begun = None
        yield Block(block.line, mended(block.text))


def mended(text: str) -> str:
    """A block as its author wrote it."""
    for begin, end, spaces in INDENTED:
        first = f"\n{text}".find(f"\n{begin}")
        stop = len(text) if end is None else text.find(f"\n{end}", first) + 1
        if first >= 0 and stop > first:
            lines = text[first:stop].splitlines(keepends=True)
            moved = [" " * spaces + one if spaces > 0 else one[-spaces:] for one in lines]
            text = text[:first] + "".join(moved) + text[stop:]
    return changed(text, MENDED)


def changed(text: str, changes: dict[str, str]) -> str:
    """A text with every pattern replaced."""
    for pattern, replacement in changes.items():
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text
