"""What everything else stands on: errors, names, seeds, frames, files, kernels, threads."""
