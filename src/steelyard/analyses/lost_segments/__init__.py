"""Test cases between hosts in which TCP had to send again."""
