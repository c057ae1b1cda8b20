"""The child's side of `process`: serves one agent to its parent, and ends with it.

python -m navarena.agents.process_host AGENT PROTOCOL SEED
"""

import os
import sys
import threading
from typing import Any

from navarena.agents.agent import Boundary, Start
from navarena.agents.loading import load_agent
from navarena.agents.serve import Host, make_server
from navarena.core.errors import NavarenaError
from navarena.core.processes import ignore_interrupts
from navarena.tasks.catalog import get_task


def make_start(boundary: int, **fields: Any) -> Start:
    """The start of the fields of a message."""
    return Start(boundary=Boundary(boundary), **fields)


def main(name: str, protocol: str, seed: str) -> None:
    """Serve until the parent has exited; the address is one line on stdout, other output goes to stderr.

    The agent gets neither of the two pipes: it cannot fill the one, nor read the other.
    """
    ignore_interrupts()
    to_parent, from_parent = os.fdopen(os.dup(1), "w"), os.fdopen(os.dup(0))
    os.dup2(2, 1)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.path.insert(0, os.getcwd())
    try:
        task = get_task(protocol)
        first = [load_agent(name, task, int(seed))]
    except NavarenaError as error:
        sys.stderr.write(f"error: {error}\n")
        return

    def make() -> Any:
        return first.pop() if first else load_agent(name, task, int(seed))

    server = make_server(Host(make, make_start))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        to_parent.write(f"http://127.0.0.1:{server.server_port}\n")
        to_parent.close()
        from_parent.read()  # ends when the parent does
    except OSError as error:
        sys.stderr.write(f"error: the agent closed files that are not its own ({error})\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])
