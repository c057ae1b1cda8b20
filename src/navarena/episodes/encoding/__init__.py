"""Goal encoders: interface, registry and disk cache; implementations are in agents.encoders."""
