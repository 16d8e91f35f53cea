"""TRPO: 8 CartPoles, 128 steps, 10 iterations of conjugate gradient on the whole batch, 3 epochs of
128 for the value, 64x64 tanh.
"""

from __future__ import annotations

from peers import NAMES, OnPolicy, train_with

from cases._training import Subject, agent_of, environments, is_rlk, model_of, peer

LIBRARIES = ("rlk", "sb3", "tianshou")
WARM_UP, TIMED = 2_048, 20_480
ENV, N_ENVS, N_STEPS, EPOCHS = "CartPole-v1", 8, 128, 3
KL, ITERATIONS, RATE, LAMBDA = 0.01, 10, 3e-4, 0.98
MINIBATCH = 128  # of the value


def subject(library: str) -> Subject:
    if is_rlk(library):
        return agent_of(
            library,
            "trpo",
            env=ENV,
            n_envs=N_ENVS,
            timesteps_per_batch=N_ENVS * N_STEPS,
            max_kl=KL,
            cg_iters=ITERATIONS,
            cg_damping=0.01,
            vf_iters=EPOCHS,
            vf_stepsize=RATE,
            lam=LAMBDA,
            optimiser={"kl_slack": 1.0},
            policy={"layers": [64, 64], "act_fun": "tanh"},
        )
    if library in NAMES:
        settings = OnPolicy(
            env=ENV,
            n_envs=N_ENVS,
            n_steps=N_STEPS,
            n_epochs=EPOCHS,
            learning_rate=RATE,
            gae_lambda=LAMBDA,
            max_kl=KL,
        )
        return train_with(library, "trpo", settings)
    model = peer(library, "TRPO")(
        "MlpPolicy",
        environments(ENV, N_ENVS),
        seed=0,
        n_steps=N_STEPS,
        batch_size=MINIBATCH,
        target_kl=KL,
        cg_max_steps=ITERATIONS,
        cg_damping=0.01,
        line_search_shrinking_factor=0.5,
        n_critic_updates=EPOCHS,
        learning_rate=RATE,
        gae_lambda=LAMBDA,
        sub_sampling_factor=1,
        device="cpu",
    )
    # One step of the policy and the epochs' minibatches of the value in every iteration.
    return model_of(model, 1 + EPOCHS * N_ENVS * N_STEPS // MINIBATCH)
