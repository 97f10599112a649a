"""Squeeze and excitation: channels weighed by what the whole image holds."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ChannelAttention(nn.Module):
    """Multiplies every channel by sigmoid(W2 relu(W1 m)), m the channels' means over all places.

    Both maps are without bias, from `channels` to `channels // reduction` and back. Places without
    events count as zeros in the means.
    """

    def __init__(self, channels: int, *, reduction: int = 1) -> None:
        super().__init__()
        if reduction < 1 or channels // reduction < 1:
            raise ValueError(
                f"reduction must be from 1 to the number of channels, {channels}, not {reduction}"
            )
        self.squeeze = nn.Linear(channels, channels // reduction, bias=False)
        self.excite = nn.Linear(channels // reduction, channels, bias=False)

    def forward(
        self, image: Float[Tensor, "samples channels rows columns"]
    ) -> Float[Tensor, "samples channels rows columns"]:
        """The image with its channels weighed."""
        means = image.mean(dim=(2, 3))
        weights = torch.sigmoid(self.excite(torch.relu(self.squeeze(means))))
        return image * weights[:, :, None, None]
