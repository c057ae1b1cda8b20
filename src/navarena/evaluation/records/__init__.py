"""Files of a run: run.json, journals, tables and summaries, and the checks of them."""
