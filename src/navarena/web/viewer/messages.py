"""Messages of a viewer's WebSocket.

A page sends JSON, one object for each message, with its kind under "do". It receives JSON that says all that
it shows; the list "images" names the JPEG files that follow as binary frames, in that order.
"""

from typing import Annotated, Any

import msgspec

from navarena.web.streaming import StreamError

LONGEST = 4096
"""Bytes of a message of a page."""

Unit = Annotated[float, msgspec.Meta(ge=-1, le=1)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
Word = Annotated[str, msgspec.Meta(max_length=64)]
Step = Annotated[float, msgspec.Meta(ge=-10, le=10)]


class Act(msgspec.Struct, frozen=True, tag="act", tag_field="do", forbid_unknown_fields=True):
    """An action of a person.

    Attributes:
        step: after how many actions it was chosen; others are late, and ignored.
        action: index into the actions; -1 with a command.
        command: of continuous protocols, a number within [-1, 1] for each action.
    """

    step: Number
    action: int = -1
    command: tuple[Unit, ...] = ()


class Begin(msgspec.Struct, frozen=True, tag="begin", tag_field="do", forbid_unknown_fields=True):
    """Start of a person: pseudonym and consent."""

    name: Word = ""
    consent: bool = False


class Go(msgspec.Struct, frozen=True, tag="next", tag_field="do", forbid_unknown_fields=True):
    """Go on to the next episode, or to the next person."""


class Show(msgspec.Struct, frozen=True, tag="show", tag_field="do", forbid_unknown_fields=True):
    """Show something, or do not: a kind of image, the map, the navmesh."""

    name: Word
    on: bool = True


class Look(msgspec.Struct, frozen=True, tag="look", tag_field="do", forbid_unknown_fields=True):
    """Turn the view without an action: number of views to the left."""

    left: Annotated[int, msgspec.Meta(ge=-12, le=12)]


class Pace(msgspec.Struct, frozen=True, tag="pace", tag_field="do", forbid_unknown_fields=True):
    """Steps of a replay per second; 0 for as fast as it goes."""

    rate: Annotated[float, msgspec.Meta(ge=0, le=1000)]


class Choose(msgspec.Struct, frozen=True, tag="choose", tag_field="do", forbid_unknown_fields=True):
    """Choose a slot of a batch, or a storey."""

    number: Number


class Move(msgspec.Struct, frozen=True, tag="move", tag_field="do", forbid_unknown_fields=True):
    """Move the camera of a scene.

    Attributes:
        forward, side, up: metres, along and across where it looks, and upwards; when it orbits, towards its
            centre, and of the centre.
        turn, tilt: radians to the left and upwards.
    """

    forward: Step = 0.0
    side: Step = 0.0
    up: Step = 0.0
    turn: Step = 0.0
    tilt: Step = 0.0


class Pick(msgspec.Struct, frozen=True, tag="pick", tag_field="do", forbid_unknown_fields=True):
    """Pick the object at these shares of the image's width and height."""

    x: Share
    y: Share


Message = Act | Begin | Go | Show | Look | Pace | Choose | Move | Pick

_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Message)


def read_message(text: str) -> Message:
    """The message in a frame of a page; raises StreamError for anything else."""
    data = text.encode("utf-8", "replace")
    if len(data) > LONGEST:
        raise StreamError("frame_size", f"expected a message of at most {LONGEST} bytes, got {len(data):,}")
    try:
        message: Message = _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise StreamError("frame", f"expected a message of a viewer, got another ({error})") from error
    return message
