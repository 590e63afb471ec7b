"""One decoder family, written for export: Llama (and SmolLM2), Qwen3, Gemma 3's text model.

A :class:`~.config.DecoderConfig` says all that differs between them. Families (``llama.py``,
``qwen3.py``, ``gemma3.py``) read it from a model's configuration.
"""
