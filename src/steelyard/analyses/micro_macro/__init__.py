"""Do messages predict kernels?"""
