"""Self-play: the opponent in the environments is a copy of the policy, renewed while it learns.

The game is Nim with one heap. Whoever leaves a multiple of four stones can do so again after every
answer, and so takes the last one. Against random moves alone, a policy learns this for small heaps
only: with many stones, hardly any move of its own decides the game.
"""

import gymnasium as gym
import numpy as np

import rlk


class Nim(gym.Env):
    """Two players take one to three stones in turn, and whoever takes the last one wins.

    The learner begins, with 1 to 21 stones. It observes how many there are, and action k takes
    k + 1 of them, or all if there are fewer. The reward is 1 for a victory and -1 for a defeat.

    Attributes:
        opponent: the parameters of the policy that answers; None answers at random.
    """

    observation_space = gym.spaces.Discrete(22)
    action_space = gym.spaces.Discrete(3)
    opponent = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.stones = int(self.np_random.integers(1, 22))
        return self.stones, {}

    def step(self, action):
        self._take(action)
        reward = 0.0 if self.stones else 1.0
        if self.stones:
            self._take(self.np_random.choice(3, p=move_probabilities(self.opponent, self.stones)))
            reward = 0.0 if self.stones else -1.0
        return self.stones, reward, self.stones == 0, False, {"is_success": reward == 1.0}

    def _take(self, action):
        self.stones -= min(int(action) + 1, self.stones)

    def get_state(self):
        return {"stones": self.stones}  # without the opponent, which the plugin keeps

    def set_state(self, state):
        self.stones = state["stones"]


def move_probabilities(parameters, stones):
    """Of every move, float64 [3]: by the policy `mlp`, in numpy, because workers have no torch."""
    if parameters is None:
        return np.full(3, 1 / 3)
    hidden = np.eye(22)[stones]
    for layer in ("pi.trunk.layers.0", "pi.trunk.layers.1"):
        hidden = np.tanh(hidden @ parameters[f"{layer}.weight"] + parameters[f"{layer}.bias"])
    weights = np.exp(hidden @ parameters["pi.out.weight"] + parameters["pi.out.bias"])
    return weights / weights.sum()


class SelfPlay:
    """Makes a copy of the policy the opponent, every so many iterations; the first is random.

    Args:
        every: how many iterations these are.
        evaluations: whom the policy meets there: "random", an opponent that stays the same, so that
            mean returns can be compared, or "copy", the latest one.
    """

    def __init__(self, every, evaluations="random"):
        if evaluations not in ("random", "copy"):
            raise ValueError(f'evaluations must be "random" or "copy", got {evaluations!r}')
        self.every, self.evaluations = every, evaluations
        self.opponent = None

    @rlk.hookimpl
    def rlk_training_start(self, run):
        run.env.set_attr("opponent", self.opponent)

    @rlk.hookimpl
    def rlk_update_end(self, run):
        if run.clock.iterations % self.every == 0:
            parameters = run.parameters.state_dict().items()
            acting = {name: one for name, one in parameters if name.startswith("pi.")}
            self.opponent = {name: one.cpu().numpy() for name, one in acting.items()}
            run.env.set_attr("opponent", self.opponent)

    @rlk.hookimpl
    def rlk_prepare_evaluation(self, env):
        env.set_attr("opponent", self.opponent if self.evaluations == "copy" else None)

    @rlk.hookimpl
    def rlk_save_with_model(self):
        return {"opponent": self.opponent}

    @rlk.hookimpl
    def rlk_load_with_model(self, state):
        self.opponent = state["opponent"]


def main(timesteps=30_000, seed=None):
    settings = {"n_envs": 8, "n_steps": 64, "learning_rate": 1e-3, "ent_coef": 0.05}
    agent = rlk.make("ppo2", env=Nim, plugins=[SelfPlay(every=5)], seed=seed, settings=settings)
    return agent.learn(timesteps)


if __name__ == "__main__":
    main()
