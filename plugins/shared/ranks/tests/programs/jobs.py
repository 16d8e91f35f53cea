"""Does the jobs of `jobs.json` one after the other on all ranks, so that they start only once.

A job is a list of arguments: of `rlk`, or a program and its own. Rank R leaves what job J printed
in `J.R.txt` and its exit code in `J.R.code`. An error that would end all ranks is raised instead,
so only errors that every rank meets at the same time can be jobs.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import sys
import traceback
from pathlib import Path

from launched import guard

from rlk_cli.main import main
from rlk_ranks.guard import ALONE


def failed(error):
    """In the place of `Guard.failed`."""
    guard().phase = ALONE
    print("an error that ends all ranks", file=sys.stderr)
    raise error


@contextlib.contextmanager
def printing_into(path):
    """What is written to stdout and stderr goes there, whoever writes it."""
    kept = [os.dup(1), os.dup(2)]
    with path.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)


def do(arguments):
    """One job; its exit code."""
    try:
        if arguments[0].endswith(".py"):
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
            return 0
        main(arguments)
    except SystemExit as leaving:
        return leaving.code or 0
    except Exception:
        traceback.print_exc()
        return 1


guard().failed = failed
rank = guard().ranks.rank
for name, arguments in json.loads(Path("jobs.json").read_text()).items():
    print(f"rank {rank} begins {name}", flush=True)
    os.environ["FACTS"] = f"{name}.{rank}.json"
    with printing_into(Path(f"{name}.{rank}.txt")):
        code = do(arguments)
    Path(f"{name}.{rank}.code").write_text(str(code))
guard().phase = ALONE
