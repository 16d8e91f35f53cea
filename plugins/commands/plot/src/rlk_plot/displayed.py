"""A figure that a notebook displays. Imports matplotlib, so it is imported when one is drawn."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class DisplayedFigure(Figure):
    """A figure apart from pyplot, which Jupyter would display only after `%matplotlib inline`."""

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()
