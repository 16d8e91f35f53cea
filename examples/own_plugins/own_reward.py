"""Rewards of one's own in place of the environment's: here, the pole is to stay in the middle."""

import rlk


class StaysInTheMiddle:
    """Takes the distance from the middle off every reward, before the collection is learnt from.

    `reward` is what the algorithm learns from; the returns of episodes that are logged stay the
    environment's own.
    """

    def __init__(self, weight):
        self.weight = weight

    @rlk.hookimpl
    def rlk_wrap_collector(self, run):
        def wrapper(collect):
            def collected():
                is_whole = collect()
                if is_whole:
                    rollout = run.storage.latest()  # arrays [T, N, ...] of T steps, N environments
                    distance = abs(rollout.observation[..., 0])
                    rollout.reward[...] -= self.weight * distance
                    run.metrics.set("train/distance", float(distance.mean()))
                return is_whole

            return collected

        return wrapper


def main(timesteps=20_000):
    agent = rlk.make("ppo2", env="CartPole-v1", n_envs=4, plugins=[StaysInTheMiddle(0.5)])
    return agent.learn(timesteps)


if __name__ == "__main__":
    main()
