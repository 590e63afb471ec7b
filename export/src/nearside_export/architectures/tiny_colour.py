"""A classifier of the dominant colour, small enough for tests: red, green, blue or grey.

Its weights are written down, not trained, so that every machine makes the same file and every
answer can be worked out by hand.
"""

from __future__ import annotations

import torch

from nearside_export.architectures.classifier import Classifier
from nearside_export.image_spec import ImageSpec
from nearside_export.manifest import ClassifyGate

LABELS = ["red", "green", "blue", "grey"]


class TinyColour(torch.nn.Module):
    """f32 ``[1, 3, 32, 32]`` in 0..1, RGB, to logits f32 ``[1, 4]``.

    A 3x3 box blur with stride 2 gives how much each channel exceeds the mean of the other two;
    the averages over the picture are compared with a fixed threshold for grey.
    """

    def __init__(self, classes: int = len(LABELS)) -> None:
        super().__init__()
        self.opponent = torch.nn.Conv2d(3, 3, 3, stride=2, padding=1)
        self.mix = torch.nn.Conv2d(3, 8, 1)
        self.head = torch.nn.Linear(8, classes)
        if classes != len(LABELS):
            return
        with torch.no_grad():
            colours = 1.5 * torch.eye(3) - 0.5 * torch.ones(3, 3)
            self.opponent.weight.copy_(colours[:, :, None, None].expand(3, 3, 3, 3) / 9)
            self.opponent.bias.zero_()
            self.mix.weight.zero_()
            self.mix.weight[:3, :, 0, 0] = torch.eye(3)
            self.mix.bias.zero_()
            self.head.weight.zero_()
            self.head.weight[:3, :3] = 20.0 * torch.eye(3)
            self.head.bias.copy_(torch.tensor([0.0, 0.0, 0.0, 2.0]))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Logits of red, green, blue, grey."""
        x = torch.relu(self.opponent(image))
        x = torch.relu(self.mix(x))
        return self.head(x.mean(dim=(2, 3)))


TINY_COLOUR = Classifier(
    name="tiny-classifier",
    licence="Apache-2.0",
    source="written by hand in nearside-export, architectures/tiny_colour.py",
    image=ImageSpec(width=32, height=32, fit="center_crop"),
    load=lambda: TinyColour().eval(),
    build=lambda classes: TinyColour(classes),
    labels=lambda: list(LABELS),
    gates={
        "fp32": ClassifyGate(top1_agreement=1.0),
        "fp16": ClassifyGate(top1_agreement=0.98),
        "int8": ClassifyGate(top1_agreement=0.9),
    },
)
