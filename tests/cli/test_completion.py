"""What a shell completes, as click's script for bash asks for it."""

import json
import os
import subprocess
import sys

#: Reads lists of words from stdin, of which the last is not complete; prints a list of completions,
#: each with its type, for each. Torch would make every press of the tab key take a second.
PROGRAM = """
import contextlib, io, json, os, shlex, sys
from rlk_cli.main import main

for words in json.load(sys.stdin):
    os.environ |= {"COMP_WORDS": shlex.join(["rlk", *words]), "COMP_CWORD": str(len(words))}
    printed = io.TextIOWrapper(io.BytesIO())  # click writes bytes
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([])
    assert "torch" not in sys.modules, words
    printed.flush()
    print(json.dumps(printed.buffer.getvalue().decode().split()))
"""
NAMES = [
    (["run", "--algo", "tr"], "trpo"),
    (["run", "--algo", "he"], "her"),
    (["run", "--storage", "prio"], "prioritized-replay"),
    (["run", "--preset", "n"], "none"),
    (["resume", "one", "--plugin", "hind"], "hindsight-replay"),
    (["evaluate", "one", "--plugin", "action-m"], "action-masking,action-masks"),
    (["tune", "--space", "usu"], "usual-ranges"),
    (["plugins", "show", "epsilon"], "epsilon-greedy"),
    (["plugins", "check", "epsilon"], "epsilon-greedy"),
    (["plugins", "list", "--kind", "vec"], "vec-envs"),
]
#: After these, the shell completes paths.
FILES = [
    *(["resume"], ["evaluate"], ["enjoy"], ["evaluate", "x", "--env"], ["export"], ["import"]),
    *(["env", "check"], ["run", "--env"], ["run", "--policy"], ["run", "--plugin"]),
]
FOLDERS = [["plot"], ["run", "--out"], ["resume", "x", "--out"], ["tune", "--out"]]


def completions(typed):
    environment = {**os.environ, "_RLK_COMPLETE": "bash_complete"}
    how = {"input": json.dumps(typed), "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", PROGRAM], timeout=120, check=False, **how)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_shell_completes_names_of_components_and_paths_without_torch():
    paths = [(words, "file") for words in FILES] + [(words, "dir") for words in FOLDERS]
    typed = [words for words, _ in NAMES] + [[*words, "./on"] for words, _ in paths]
    expected = [[f"plain,{name}" for name in names.split(",")] for _, names in NAMES]
    expected += [[f"{kind},./on"] for _, kind in paths]
    for words, found, wanted in zip(typed, completions(typed), expected, strict=True):
        assert found == wanted, words
