"""Agents that ask language models what to do."""
