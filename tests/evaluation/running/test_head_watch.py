"""A cluster whose head has died is reported in one line; needs no Ray."""

import socket

import pytest

from navarena.core.errors import CheckFailedError
from navarena.evaluation.running.cluster import DIED, describe_death
from navarena.evaluation.running.cluster_head import HEAD_SECONDS, LOOK_SECONDS, HeadWatch


def test_a_head_is_given_up_after_a_while():
    now = 0.0
    with socket.create_server(("127.0.0.1", 0)) as server:
        watch = HeadWatch(f"127.0.0.1:{server.getsockname()[1]}", lambda: now)
        now = last = 2 * HEAD_SECONDS
        watch.require_alive()
    now = last + LOOK_SECONDS / 2
    watch.require_alive()  # too early to look again
    now = last + HEAD_SECONDS
    watch.require_alive()  # it may come back
    now = last + HEAD_SECONDS + LOOK_SECONDS
    with pytest.raises(CheckFailedError, match=r"head at 127\.0\.0\.1:\d+ does not answer.*are kept"):
        watch.require_alive()


def test_deaths_in_short():
    lost = "The actor 5e34 is unavailable: The actor is temporarily unavailable: RpcError: RPC error"
    assert describe_death(lost) == "it is out of reach"
    assert describe_death("\nThe actor died.\nMore.") == "The actor died."
    assert describe_death("It died.\nThe actor is dead because its worker process has died. Worker") == DIED
    gone = "It died.\n\tip: 10.0.0.2\nThe actor died because its node has died. Node Id: 5e34"
    assert describe_death(gone) == "its machine died"
