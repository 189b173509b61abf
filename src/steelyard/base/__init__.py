"""What everything else stands on: errors, units, files. Imports nothing of ours."""
