"""A term beside the algorithm's own loss: large weights cost something."""

import rlk


class WeightDecay:
    """Adds `strength` times the sum of squares of what a group trains to the group's losses."""

    def __init__(self, strength):
        self.strength = strength

    @rlk.hookimpl
    def rlk_wrap_loss(self, run, group):
        def wrapper(loss_fn):
            def with_penalty(*args):
                loss = loss_fn(*args)
                parameters = run.optimise.groups[group].parameters
                penalty = self.strength * sum(one.square().sum() for one in parameters)
                metrics = {**loss.metrics, f"penalty_{group}": penalty.detach()}
                return loss._replace(value=loss.value + penalty, metrics=metrics)

            return with_penalty

        return wrapper


def main(timesteps=20_000):
    agent = rlk.make("ppo2", env="CartPole-v1", n_envs=4, plugins=[WeightDecay(1e-4)])
    return agent.learn(timesteps)


if __name__ == "__main__":
    main()
