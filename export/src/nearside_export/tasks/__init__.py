"""What can be exported, one file a task: each makes whole packages."""
