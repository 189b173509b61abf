"""A campaign: all launches of a plan, measured into a results folder."""
