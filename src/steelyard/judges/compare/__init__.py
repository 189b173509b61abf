"""Compare arms: is one slower than another, faster, the same, or can nobody tell?"""
