"""The whole text decoder and its methods."""

from __future__ import annotations

import math

import torch

from nearside_export.architectures.decoder import rope
from nearside_export.architectures.decoder.cache import KeyValueCache
from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.architectures.decoder.step import Step
from nearside_export.architectures.gemma3n.altup import Collapse, Expand
from nearside_export.architectures.gemma3n.attention import Written
from nearside_export.architectures.gemma3n.config import Config
from nearside_export.architectures.gemma3n.layer import Layer
from nearside_export.architectures.gemma3n.per_layer import PerLayerEmbedding, PerLayerInputs


class TokenEmbedding(torch.nn.Module):
    """Method ``token_embedding``: int64 ``[1, S]`` to f32 ``[1, S, D]``.

    Ids from ``modality_offset`` on are those of the image and audio vocabularies ("end of image",
    say): they have a table of their own, `modality`, whose rows are embedded already.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.scale = math.sqrt(config.hidden_size)
        self.embedding = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.modality_offset: int | None = None
        self.modality: torch.nn.Embedding | None = None

    def add_modalities(self, offset: int, table: torch.Tensor) -> None:
        """Embed ids from ``offset`` on by the rows of ``table``, f32 ``[rows, D]``."""
        self.modality_offset = offset
        self.modality = torch.nn.Embedding.from_pretrained(table.detach().clone())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Embed ids; scaled as the decoder wants them."""
        last = self.embedding.num_embeddings - 1
        text = self.embedding(ids.clamp(max=last)) * self.scale
        if self.modality is None:
            return text
        special = self.modality((ids - self.modality_offset).clamp(min=0))
        return torch.where((ids >= self.modality_offset)[..., None], special, text)


class TextDecoder(torch.nn.Module):
    """Method ``text_decoder``: embeddings to the logits f32 ``[1, 1, V]`` of the last row.

    The layers that share keys and values leave nothing behind for later calls, so that they see
    the last row only; with ``every_row`` they see all, for logits ``[1, S, V]``.
    """

    def __init__(self, config: Config, slots: int, attention: str) -> None:
        super().__init__()
        self.config = config
        self.slots = slots
        self.every_row = False
        ropes = list(dict.fromkeys(layer.rope for layer in config.layers))
        self.ropes = len(ropes)
        with torch.device("cpu"):
            self.register_buffer("turn", rope.half_turn(config.head_dim), persistent=False)
            for kind, kind_of_rope in enumerate(ropes):
                frequencies = rope.inverse_frequencies(kind_of_rope, config.head_dim)
                self.register_buffer(f"frequencies_{kind}", frequencies, persistent=False)
        self.per_layer_inputs = PerLayerInputs(config)
        self.expand = Expand(config)
        self.layers = torch.nn.ModuleList(
            Layer(config, i, ropes.index(layer.rope), slots, attention)
            for i, layer in enumerate(config.layers)
        )
        self.collapse = Collapse(config)
        self.norm = RmsNorm(config.hidden_size, config.norm_eps)
        self.lm_head = torch.nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(
        self,
        inputs_embeds: torch.Tensor,
        cache_position: torch.Tensor,
        visible_until: torch.Tensor,
        per_layer_inputs: torch.Tensor,
    ) -> torch.Tensor:
        """f32 ``[1, S, D]``, int64 ``[S]``, int64 ``[S]``, f32 ``[1, S, L * P]``.

        ``visible_until`` are the rows' own positions: Gemma 3n is causal, images included.
        """
        step = self._step(cache_position, visible_until)
        embeds = inputs_embeds.view(-1, self.config.hidden_size)
        per_layer = self.per_layer_inputs(embeds, per_layer_inputs)
        streams = self.expand(embeds)
        written: dict[int, Written] = {}
        for i, layer in enumerate(self.layers):
            if i == self.config.first_shared and not self.every_row:
                step = self._step(cache_position[-1:], visible_until[-1:])
                streams = [stream[-1:] for stream in streams]
                per_layer = [per_row[-1:] for per_row in per_layer]
                written = {source: states.last() for source, states in written.items()}
            shared = written.get(self.config.kv_source(i))
            streams, states = layer(streams, step, per_layer[i], shared)
            written.setdefault(i, states)
        if not (self.every_row or self.config.shared_kv_layers):
            streams = [stream[-1:] for stream in streams]
        logits = self.lm_head(self.norm(self.collapse(streams)))
        if (cap := self.config.logit_softcap) is not None:
            logits = torch.tanh(logits * (1.0 / cap)) * cap
        return logits.view(1, -1, self.config.vocab_size)

    def _step(self, positions: torch.Tensor, visible_until: torch.Tensor) -> Step:
        frequencies = [getattr(self, f"frequencies_{kind}") for kind in range(self.ropes)]
        return Step(positions, visible_until, self.slots, frequencies, self.turn)


class Gemma3n(torch.nn.Module):
    """Text only, method ``forward``: int64 ``[1, S]`` and ``[S]`` to f32 ``[1, 1, V]``."""

    def __init__(self, config: Config, context_length: int, attention: str = "plain") -> None:
        super().__init__()
        self.config = config
        self.context_length = context_length
        self.token_embedding = TokenEmbedding(config)
        self.per_layer_embedding = PerLayerEmbedding(config)
        self.text_decoder = TextDecoder(config, context_length, attention)
        self.tie()

    @property
    def tied(self) -> bool:
        """Whether the head's weight is the embedding table."""
        return self.config.tied

    @property
    def embedding(self) -> torch.nn.Embedding:
        """The token table."""
        return self.token_embedding.embedding

    @property
    def lm_head(self) -> torch.nn.Linear:
        """The head."""
        return self.text_decoder.lm_head

    def tie(self) -> None:
        """Make the head's weight the embedding table, if the config says so."""
        if self.tied:
            self.lm_head.weight = self.embedding.weight

    def reset(self) -> None:
        """Empty the caches (eager use; a program's host zeroes the arena)."""
        for module in self.modules():
            if isinstance(module, KeyValueCache):
                module.reset()

    def forward(self, tokens: torch.Tensor, cache_position: torch.Tensor) -> torch.Tensor:
        """Embed ``tokens``, then decode."""
        return self.text_decoder(
            self.token_embedding(tokens),
            cache_position,
            cache_position,
            self.per_layer_embedding(tokens),
        )
