"""The agents that come with navarena, by name."""

from navarena.core.registry import Registry

AGENTS = Registry(
    "agent",
    {
        "expert": "navarena.agents.expert:ExpertAgent",
        "forward": "navarena.agents.forward:ForwardAgent",
        "random": "navarena.agents.random:RandomAgent",
    },
    "navarena.agents",
)
"""Name -> class, called as Class(task, seed) or Class(). Packages add theirs in the entry-point group."""
