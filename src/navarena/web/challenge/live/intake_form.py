"""Description of a live submission, as sent by the client and read by the server."""

from typing import Annotated, Any

import msgspec

from navarena.web.challenge.live.wire import Names
from navarena.web.challenge.log_format import About, Short, has_zero_byte
from navarena.web.challenge.refusals import Refusal


class LiveAbout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A team's description of its live submission.

    Attributes:
        about: as of a log.
        agent: its name, as after --agent.
        nonce: drawn by the client; a request that is sent again with the same one makes no second submission.
        privileged_inputs, trained_with: as the agent declares them.
    """

    about: About
    agent: Annotated[Short, msgspec.Meta(min_length=1)]
    nonce: Annotated[str, msgspec.Meta(min_length=16, max_length=64)]
    privileged_inputs: Names = ()
    trained_with: Names = ()


def describe_live_about() -> dict[str, Any]:
    """The JSON schema of LiveAbout, without references."""
    parts = msgspec.json.schema(LiveAbout)["$defs"]
    whole: dict[str, Any] = parts["LiveAbout"]
    whole["properties"]["about"] = parts["About"]
    return whole


def read_live_about(body: bytes) -> LiveAbout:
    """Parse the body of a request; raises Refusal."""
    try:
        said = msgspec.json.decode(body, type=LiveAbout)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal("bad_request", f"expected what a team says of a live submission, {error}") from error
    if has_zero_byte(body):
        raise Refusal("bad_request", "expected text without zero bytes")
    return said
