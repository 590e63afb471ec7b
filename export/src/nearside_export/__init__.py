"""nearside-export: PyTorch models to Nearside model packages.

A package is a folder ``NAME.nearside/`` with a ``manifest.json`` and the files that it names;
see :mod:`nearside_export.manifest` for the format.
"""

__version__ = "0.1.0"
