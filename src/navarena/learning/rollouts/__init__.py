"""Rollouts: how they are collected, by whom they are led, how they are changed and valued."""
