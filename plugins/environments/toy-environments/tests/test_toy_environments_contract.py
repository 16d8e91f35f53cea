"""The kernel's contract of an environment component."""

from rlk_testing import EnvironmentContract


class TestToyEnvironments(EnvironmentContract):
    component = "toy-environments"
    ids = (
        "rlk/BitFlipping-v0",
        "rlk/Identity-v0",
        "rlk/IdentityBox-v0",
        "rlk/IdentityMultiDiscrete-v0",
        "rlk/IdentityMultiBinary-v0",
        "rlk/Doors-v0",
        "rlk/MaskedIdentity-v0",
        "rlk/MaskedIdentityMultiDiscrete-v0",
        "rlk/MaskedIdentityMultiBinary-v0",
    )

    def action(self, env):
        env.unwrapped.refuse = False  # those with masks, which are tried with any action
        return super().action(env)
