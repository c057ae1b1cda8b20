"""Floor plans of houses on a millimetre grid, and how they are drawn."""
