"""Comparing: is one arm slower than another, faster, the same, or can nobody tell?"""
