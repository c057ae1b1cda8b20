"""Scenes: static geometry with meaning, imported or generated, compiled into packs."""
