"""`rlk`, which at a given timestep writes that to a file and waits to be killed.

python until.py TIMESTEPS FILE run --algo …
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rlk.running import train
from rlk.running.run import Run
from rlk_cli.main import main

timesteps, file = int(sys.argv[1]), Path(sys.argv[2])
end_iteration = train.end_iteration


def waits(run: Run) -> None:
    end_iteration(run)
    if run.timesteps >= timesteps:
        file.write_text(str(run.timesteps))
        time.sleep(600)


train.end_iteration = waits
main(sys.argv[3:])
