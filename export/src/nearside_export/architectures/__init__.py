"""The classifiers that can be exported, one file each."""
