"""What an export would take, told from configurations and headers: no weight is read."""
