"""PPO2 against PPO: 8 CartPoles, 128 steps, 4 epochs, minibatches of 256, 64x64 tanh."""

from __future__ import annotations

from peers import PPO_NAMES, OnPolicy, train_with

from cases._training import Subject, agent_of, environments, is_rlk, model_of, peer

LIBRARIES = ("rlk", "rlk+compile", "sb3", "sbx", *PPO_NAMES)
WARM_UP, TIMED = 2_048, 40_960
ENV, N_ENVS, N_STEPS, EPOCHS, MINIBATCH, RATE = "CartPole-v1", 8, 128, 4, 256, 3e-4


def subject(library: str) -> Subject:
    if is_rlk(library):
        return agent_of(
            library,
            "ppo2",
            env=ENV,
            n_envs=N_ENVS,
            n_steps=N_STEPS,
            noptepochs=EPOCHS,
            nminibatches=N_ENVS * N_STEPS // MINIBATCH,
            learning_rate=RATE,
            ent_coef=0.0,
            cliprange_vf=-1,
            policy={"layers": [64, 64], "act_fun": "tanh"},
        )
    if library in PPO_NAMES:
        settings = OnPolicy(
            env=ENV,
            n_envs=N_ENVS,
            n_steps=N_STEPS,
            n_epochs=EPOCHS,
            batch_size=MINIBATCH,
            learning_rate=RATE,
        )
        return train_with(library, "ppo", settings)
    model = peer(library, "PPO")(
        "MlpPolicy",
        environments(ENV, N_ENVS),
        seed=0,
        n_steps=N_STEPS,
        n_epochs=EPOCHS,
        batch_size=MINIBATCH,
        learning_rate=RATE,
        device="cpu",
    )
    return model_of(model, N_ENVS * N_STEPS // MINIBATCH)  # it counts epochs
