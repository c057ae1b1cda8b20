"""Perception that agents share: a segmenter, frozen trunks, and features kept on disk."""
