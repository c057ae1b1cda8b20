"""The process's side of `prefetch`: does jobs until its parent is gone.

python -m navarena.episodes.prefetch_host
"""

import os
import pickle

from navarena.episodes.prefetch import describe_failure, read_message, write_message

NICENESS = 10
"""Added to the priority: where cores are scarce, the run goes first."""


def main() -> None:
    """Answer every job on the original stdout; other output goes to stderr."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.nice(NICENESS)
    while (request := read_message(requests)) is not None:
        try:
            answer = pickle.dumps((True, pickle.loads(request).run()))
        except Exception as error:  # the parent does the job itself, and raises what it meets
            answer = pickle.dumps(describe_failure(error))
        try:
            write_message(answers, answer)
        except OSError:
            return


if __name__ == "__main__":
    main()
