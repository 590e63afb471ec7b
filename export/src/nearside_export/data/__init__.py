"""Real pictures from PyPI packages, for calibration and evaluation."""
