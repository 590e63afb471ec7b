"""From an exported PyTorch program to an ExecuTorch program, one file a delegate."""
