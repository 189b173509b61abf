"""The base of all packages: errors, units, files. It imports nothing of ours."""
