"""A bonus on top of every reward, for any algorithm: greater in states that were seldom visited.

The square root of the number of visits is in the denominator: Bellemare et al. 2016, arXiv
1606.01868, eq. 4, here with counts of cells of the observation.
"""

from collections import Counter

import numpy as np

import rlk


class CountBonus:
    """Adds `weight / sqrt(visits)` to the reward of a step before it is stored.

    Args:
        weight: of the bonus.
        width: of a cell, in the units of the observation.
    """

    def __init__(self, weight, width):
        self.weight, self.width = weight, width
        self.visits: Counter[bytes] = Counter()

    @rlk.hookimpl
    def rlk_wrap_add(self, run):
        def wrapper(add):
            def added(step):
                cells = np.floor(step.observation / self.width).astype(np.int64)
                bonus = np.array([self._bonus(cell.tobytes()) for cell in cells])
                run.metrics.add("rollout/bonus", float(bonus.mean()))
                add(step._replace(reward=step.reward + bonus))

            return added

        return wrapper

    def _bonus(self, cell):
        self.visits[cell] += 1
        return self.weight / np.sqrt(self.visits[cell])

    @rlk.hookimpl
    def rlk_save(self):
        return {"visits": {cell.hex(): count for cell, count in self.visits.items()}}

    @rlk.hookimpl
    def rlk_load(self, state):
        counts = state["visits"].items()
        self.visits = Counter({bytes.fromhex(cell): count for cell, count in counts})


def main(timesteps=20_000):
    agent = rlk.make("dqn", env="MountainCar-v0", plugins=[CountBonus(1.0, [0.1, 0.01])])
    return agent.learn(timesteps)


if __name__ == "__main__":
    main()
