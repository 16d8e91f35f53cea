"""Keywords of Stable Baselines' `policy_kwargs` that the policies of rlk have under other names."""

from __future__ import annotations

from rlk_mlp.config import ACTIVATION_NAMES

#: PyTorch's classes of the activations, in the order of their names here.
_ACTIVATIONS = (
    *("Tanh", "ReLU", "ELU", "LeakyReLU", "SELU", "GELU", "SiLU"),
    *("Sigmoid", "Softplus", "Softsign"),
)
#: `Component.instead_of` of every policy with hidden layers. A list of sizes is for each head, as
#: in Stable-Baselines3; one for layers that all heads share, as in 2.10, stays `net_arch`.
INSTEAD_OF = {
    **{
        f"activation_fn={theirs}": f"act_fun={own}"
        for theirs, own in zip(_ACTIVATIONS, ACTIVATION_NAMES, strict=True)
    },
    "activation_fn": "act_fun={value}",
    "ortho_init=True": "init=orthogonal",
    "ortho_init=False": "init=uniform",
    "net_arch={…}": "net_arch={value}",
    "net_arch": "layers={value}",
    "features_extractor_class": "Encoders of your own are explained in docs/custom-policies.md.",
    "normalize_images": "images of whole numbers are divided by 255. Leave it out.",
}
#: Likewise, of policies that may have an encoder for every head.
OF_ENCODERS = {"share_features_extractor": "share_encoder={value}"}
#: Likewise, of those with a CNN.
OF_CNN = {"features_dim": "features={value}"}
