"""The tiny Gemma 3n, transformers' and ours, and what transformers makes of one prompt."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
from layer_trace import Trace, attach, of_transformers

from nearside_export.architectures.gemma3n import weights
from nearside_export.architectures.gemma3n.config import Config
from nearside_export.architectures.gemma3n.model import Gemma3n
from nearside_export.recipes import tiny_gemma3n

# Such small products are slower on several threads, far slower on a busy machine.
torch.set_num_threads(1)

ROWS = 40
CONTEXT = 48


@dataclass(frozen=True)
class Reference:
    """Transformers' model with its logits f32 ``[ROWS, V]`` and layer outputs for ``ids``."""

    model: torch.nn.Module
    config: Config
    ids: torch.Tensor
    logits: torch.Tensor
    layers: dict[tuple[int, str], torch.Tensor]

    def ours(self, attention: str = "plain") -> Gemma3n:
        """Build ours with a copy of the weights."""
        copied = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        return weights.load(self.config, CONTEXT, copied, attention)


@functools.cache
def build() -> Reference:
    """Build it once for all test files."""
    model = tiny_gemma3n.model()
    ids = torch.randint(6, 272, (1, ROWS), generator=torch.Generator().manual_seed(0))
    trace = Trace()
    handles = attach(model.model.language_model.layers, trace)
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0]
    for handle in handles:
        handle.remove()
    config = Config.from_transformers(model.config.text_config)
    layers = {key: of_transformers(trace)[key] for key in trace.order}
    return Reference(model, config, ids, logits, layers)
