"""PPO2 with an LSTM of 256 against RecurrentPPO: 8 CartPoles, 128 steps, 10 epochs, minibatches of
128, 64x64 tanh for each head. `sb3` as it comes, with a second LSTM for the value; `sb3-shared`
with one for both, as rlk has it.
"""

from __future__ import annotations

from cases._training import Subject, agent_of, environments, is_rlk, model_of, peer

LIBRARIES = ("rlk", "sb3", "sb3-shared")
WARM_UP, TIMED = 1_024, 4_096
ENV, N_ENVS, N_STEPS, EPOCHS, MINIBATCH, RATE = "CartPole-v1", 8, 128, 10, 128, 3e-4
UNITS = 256


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
            policy="lstm",
            lstm={"n_lstm": UNITS, "net_arch": ["lstm", {"pi": [64, 64], "vf": [64, 64]}]},
        )
    return recurrent_peer(library)


def recurrent_peer(library: str) -> Subject:
    """RecurrentPPO of the contrib package."""
    one = {"shared_lstm": True, "enable_critic_lstm": False} if library == "sb3-shared" else {}
    model = peer(library, "RecurrentPPO")(
        "MlpLstmPolicy",
        environments(ENV, N_ENVS),
        seed=0,
        n_steps=N_STEPS,
        n_epochs=EPOCHS,
        batch_size=MINIBATCH,
        learning_rate=RATE,
        policy_kwargs={"lstm_hidden_size": UNITS, **one},
        device="cpu",
    )
    return model_of(model, N_ENVS * N_STEPS // MINIBATCH)  # it counts epochs
