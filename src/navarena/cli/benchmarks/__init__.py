"""What `navarena bench` measures: one file per kind of work, each with `measure(quick)`."""
