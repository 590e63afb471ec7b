"""Gemma 3n's text decoder, written for export: one file a concept.

The maths is that of transformers' ``modeling_gemma3n.py``; attribute names follow its checkpoints.
Tensors have no batch dimension inside: ``S`` rows of one sequence. ``A`` AltUp streams, ``D``
hidden size, ``P`` per-layer size, ``L`` layers, ``H`` heads, ``K`` KV heads, ``C`` cache slots.
"""
