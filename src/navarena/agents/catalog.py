"""The agents that come with navarena, by name."""

from navarena.core.registry import Registry

AGENTS = Registry(
    "agent",
    {
        "expert": "navarena.agents.expert:ExpertAgent",
        "explore-only": "navarena.agents.explorers.frontier:ExploreOnlyAgent",
        "forward": "navarena.agents.simple:ForwardAgent",
        "frontier": "navarena.agents.explorers.frontier:FrontierAgent",
        "frontier-adaptive": "navarena.agents.explorers.adaptive:AdaptiveFrontierAgent",
        "frontier-odometry": "navarena.agents.explorers.frontier:OdometricFrontierAgent",
        "frontier-rgb": "navarena.agents.explorers.frontier:FrontierRgbAgent",
        "modular-cow": "navarena.agents.goat.cow:ModularCowAgent",
        "modular-goat-gt": "navarena.agents.goat.modular:ModularGoatAgent",
        "random": "navarena.agents.simple:RandomAgent",
        "random-oracle-found": "navarena.agents.oracles:RandomOracleFoundAgent",
        "stop": "navarena.agents.simple:StopAgent",
    },
    "navarena.agents",
)
"""Name -> class, called as Class(task, seed) or Class(). Packages add theirs in the entry-point group."""

GRAPH_AGENTS = Registry(
    "graph agent",
    {
        "expert": "navarena.agents.graph_expert:GraphExpertAgent",
        "explorer": "navarena.agents.graph_explorer:GraphExplorerAgent",
        "forward": "navarena.agents.graph_simple:GraphForwardAgent",
        "path": "navarena.agents.graph_expert:GraphPathAgent",
        "random": "navarena.agents.graph_simple:GraphRandomAgent",
        "stop": "navarena.agents.graph_simple:GraphStopAgent",
    },
    "navarena.graph_agents",
)
"""The same for the protocols on navigation graphs."""
