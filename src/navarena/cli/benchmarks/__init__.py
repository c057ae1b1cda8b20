"""Benchmarks of `navarena bench`: one file per kind of work, each with `measure(quick)`."""
