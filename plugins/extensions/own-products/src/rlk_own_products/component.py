"""The components: the pass `own-products` and the extension `own-kernels`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="own-products",
    factory="rlk_own_products.graph_pass:OwnProducts",
    summary="compiled updates use rlk's own kernel for matrix products (AMD with AVX-512)",
)
kernels = Component(
    name="own-kernels",
    factory="rlk_own_products.extension:OwnKernels",
    summary="other updates use rlk's own kernels for products and tanh (AMD with AVX-512)",
    autostart="always",
    only_trains=True,
)
