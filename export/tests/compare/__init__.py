"""Tests of packages side by side, and of measuring them again."""
