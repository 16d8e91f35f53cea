"""The components: the passes `own-products` and `own-convolutions`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="own-products",
    factory="rlk_own_products.graph_pass:OwnProducts",
    summary="compiled updates multiply matrices by a kernel of rlk's own (AMD with AVX-512)",
)
convolutions = Component(
    name="own-convolutions",
    factory="rlk_own_products.convolution_pass:OwnConvolutions",
    summary="compiled updates convolve images by a kernel of rlk's own (AMD with AVX-512)",
)
