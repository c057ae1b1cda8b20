"""The renderer of NVIDIA Warp: the same kernels on a GPU and, for tests, on the CPU; in the extra `gpu`."""
