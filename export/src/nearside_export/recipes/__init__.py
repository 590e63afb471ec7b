"""Seeded Hugging Face folders of tiny models with random weights, for tests and examples."""
