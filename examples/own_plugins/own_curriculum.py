"""A curriculum: the environment becomes harder whenever the mean return passes a goal.

Here, gravity grows from a quarter of the Earth's to all of it. Evaluations are always at the
hardest level: their mean returns can then be compared, and the best model is the best at what
counts.
"""

import rlk


class Curriculum:
    """Sets an attribute of every environment to the next value of a list.

    Args:
        attribute: of the environment.
        values: of the attribute, the easiest first.
        goal: the mean return of the last episodes with which the next value comes.
        episodes: how many these are.
    """

    def __init__(self, attribute, values, goal, episodes=20):
        self.attribute, self.values, self.goal, self.episodes = attribute, values, goal, episodes
        self.level = 0
        self.since = 0  # episodes of the run before this level

    @rlk.hookimpl
    def rlk_training_start(self, run):
        self._set(run)

    @rlk.hookimpl
    def rlk_update_end(self, run):
        played = run.clock.episodes - self.since
        returns = [return_ for return_, _ in run.metrics.recent_episodes][-self.episodes :]
        is_last = self.level == len(self.values) - 1
        if played >= self.episodes and sum(returns) >= self.goal * len(returns) and not is_last:
            self.level += 1
            self.since = run.clock.episodes
            self._set(run)

    def _set(self, run):
        run.env.set_attr(self.attribute, self.values[self.level])

    @rlk.hookimpl
    def rlk_prepare_evaluation(self, env):
        env.set_attr(self.attribute, self.values[-1])

    @rlk.hookimpl
    def rlk_log(self, row):
        row["curriculum/level"] = self.level

    @rlk.hookimpl
    def rlk_save_with_model(self):
        return {"level": self.level, "since": self.since}

    @rlk.hookimpl
    def rlk_load_with_model(self, state):
        self.level, self.since = state["level"], state["since"]


def main(timesteps=20_000):
    curriculum = Curriculum("gravity", [2.45, 4.9, 9.8], goal=100)
    agent = rlk.make("ppo2", env="CartPole-v1", n_envs=4, plugins=[curriculum])
    return agent.learn(timesteps)


if __name__ == "__main__":
    main()
