"""What this distribution offers: the pass `own-products`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="own-products",
    factory="rlk_own_products.graph_pass:OwnProducts",
    summary="compiled updates multiply matrices by a kernel of rlk's own (AMD with AVX-512)",
)
