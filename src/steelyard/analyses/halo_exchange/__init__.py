"""Which way to move halos is the fastest?"""
