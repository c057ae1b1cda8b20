"""Builders of navmeshes: from any triangle mesh, or from exactly known floors."""
