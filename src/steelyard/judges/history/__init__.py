"""Nights: results folders of one plan, made at many times. Is tonight slower, and since when?"""
