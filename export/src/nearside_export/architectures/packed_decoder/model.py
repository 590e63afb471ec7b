"""The decoder: tokens and positions to the logits of the last one."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from nearside_export.architectures.decoder import rope
from nearside_export.architectures.decoder.cache import KeyValueCache
from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.architectures.packed_decoder.layer import Call, Norm, PackedLayer
from nearside_export.architectures.packed_decoder.linear import PackedMatrix
from nearside_export.ops.rope_table import rope_table


class PackedDecoder(torch.nn.Module):
    """A `Decoder` whose step is made of operators of ours; calls are those of a `Decoder`.

    ``head`` is null where it is the ``table``.
    """

    def __init__(
        self,
        config: DecoderConfig,
        context_length: int,
        table: PackedMatrix,
        layers: Sequence[PackedLayer],
        norm: Norm,
        head: PackedMatrix | None,
    ) -> None:
        super().__init__()
        self.config = config
        self.context_length = context_length
        self.table = table
        self.layers = torch.nn.ModuleList(layers)
        self.norm = norm
        self.head = head
        ropes = list(dict.fromkeys(layer.rope for layer in config.layers))
        self.ropes = len(ropes)
        for kind, kind_of_rope in enumerate(ropes):
            frequencies = rope.inverse_frequencies(kind_of_rope, config.head_dim)
            self.register_buffer(f"frequencies_{kind}", frequencies, persistent=False)

    def forward(self, tokens: torch.Tensor, cache_position: torch.Tensor) -> torch.Tensor:
        """Logits f32 ``[1, 1, vocab]`` after the last of ``tokens`` i64 ``[1, S]``.

        ``cache_position`` i64 ``[S]`` says where each token stands.
        """
        return self.decode(self.embed(tokens), cache_position)

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Embed i64 ``[1, S]`` as f32 ``[1, S, hidden]``, scaled as the layers expect it."""
        return self.table.look_up(tokens, self.config.embedding_scale)

    def decode(
        self,
        embedded: torch.Tensor,
        cache_position: torch.Tensor,
        visible_until: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits f32 ``[1, 1, vocab]`` after the last row of ``embedded`` f32 ``[1, S, hidden]``.

        ``visible_until`` i64 ``[S]`` is the last position that each row may see; its own where
        null.
        """
        _, normed = self._run(embedded, cache_position, visible_until, only_last=True)
        return self._head(normed)

    def stream(
        self,
        embedded: torch.Tensor,
        cache_position: torch.Tensor,
        visible_until: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Run all layers: f32 ``[1, S, hidden]`` to the same shape, before the last norm."""
        return self._run(embedded, cache_position, visible_until, only_last=False)[0]

    def logits(self, stream: torch.Tensor) -> torch.Tensor:
        """Last norm and head: f32 ``[1, S, hidden]`` to ``[1, S, vocab]``."""
        return self._head(self.norm(stream))

    def reset(self) -> None:
        """Empty the caches (eager use; a program's host zeroes the arena)."""
        for module in self.modules():
            if isinstance(module, KeyValueCache):
                module.reset()

    def _run(
        self,
        x: torch.Tensor,
        cache_position: torch.Tensor,
        visible_until: torch.Tensor | None,
        *,
        only_last: bool,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Give the stream after all layers, and that normalised; ``only_last``: of the last row.

        Each sum goes with the norm that follows it, the next layer's first one.
        """
        frequencies = [getattr(self, f"frequencies_{kind}") for kind in range(self.ropes)]
        tables = [rope_table(cache_position, f) for f in frequencies]
        call = Call(cache_position, visible_until, tables)
        following = [layer.attention_in for layer in self.layers[1:]] + [self.norm]
        normed = self.layers[0].attention_in(x)
        for index, (layer, norm) in enumerate(zip(self.layers, following, strict=True)):
            mixed = layer.attend(normed, call)
            if only_last and index == len(self.layers) - 1:
                # Nobody looks at the others from here on.
                x, mixed = x[:, -1:], mixed[:, -1:]
            x, delta = layer.finish(x, mixed)
            x, normed = norm.added(x, delta)
        return x, normed

    def _head(self, normed: torch.Tensor) -> torch.Tensor:
        logits = (self.table if self.head is None else self.head)(normed)
        cap = self.config.logit_softcap
        return torch.tanh(logits / cap) * cap if cap else logits
