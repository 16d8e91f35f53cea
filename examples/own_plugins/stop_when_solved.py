"""Training that ends by itself, a number of one's own in the rows, and state in checkpoints."""

import numpy as np

import rlk


class StopWhenSolved:
    """Ends training when a hundred episodes in a row have had a mean return of `goal`."""

    def __init__(self, goal):
        self.goal, self.best = goal, None

    @rlk.hookimpl
    def rlk_update_end(self, run):
        recent = run.metrics.recent_episodes  # the latest hundred, unless the run says otherwise
        if len(recent) == recent.maxlen:
            mean = float(np.mean([return_ for return_, _ in recent]))
            self.best = mean if self.best is None else max(self.best, mean)

    @rlk.hookimpl
    def rlk_should_stop(self):
        is_solved = self.best is not None and self.best >= self.goal
        return f"episodes had a mean return of {self.best:.1f}" if is_solved else None

    @rlk.hookimpl
    def rlk_log(self, row):
        if self.best is not None:
            row["rollout/best_mean_return"] = self.best

    @rlk.hookimpl
    def rlk_save(self):
        return {"best": self.best}

    @rlk.hookimpl
    def rlk_load(self, state):
        self.best = state["best"]


def main(timesteps=20_000):
    agent = rlk.make("ppo2", env="CartPole-v1", n_envs=4, plugins=[StopWhenSolved(goal=30.0)])
    return agent.learn(timesteps)


if __name__ == "__main__":
    main()
