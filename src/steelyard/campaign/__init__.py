"""A campaign: all launches of a plan, into a results folder."""
