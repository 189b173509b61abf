"""What other suites have printed, read as numbers without intervals."""
