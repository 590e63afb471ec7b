"""Models that see and write: an image encoder, embeddings and a text decoder, a method each.

Families (``gemma3.py``, ``gemma3n.py``) put a :class:`.model.Multimodal` together from a local
Hugging Face folder.
"""
