"""The base of all packages: errors, names, seeds, frames, files, kernels, threads."""
