"""Which way to call them, which call and which setting is the fastest?"""
