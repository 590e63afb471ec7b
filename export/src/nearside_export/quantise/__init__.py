"""Quantisation schemes, one file each; each turns a module into an exported program."""
