"""Verdicts on results folders: against another arm, a history, guidelines, criteria of acceptance."""
