"""Image towers with their projection into the text model's space.

Transformers' and timm's own modules, wrapped for export: one picture of a fixed size.
"""
