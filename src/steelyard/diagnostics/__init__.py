"""What may be wrong: with what was measured (`results`), and with this machine (`machine`)."""
