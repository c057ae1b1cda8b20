"""The client of a challenge server: submits, and waits for the end."""

import json
import os
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from navarena.core.errors import InputError
from navarena.core.files import read_text
from navarena.web.challenge.log_format import MEDIA_TYPE
from navarena.web.challenge.refusals import Refusal

TOKEN_VARIABLE = "NAVARENA_TOKEN"
SECONDS = 60.0
"""That one request may take."""

RETRIES = 5
"""Times that a request is sent again where the server cannot be reached; a log counts once all the same."""

FINAL = ("verified", "refused", "failed", "disqualified")


def find_token(file: Path | None = None) -> str:
    """The token in `file`, else of the environment; raises InputError if there is none.

    It is no flag of any command, as those can be read by everybody on a machine.
    """
    token = read_text(file, "token file").strip() if file is not None else os.environ.get(TOKEN_VARIABLE, "")
    if not token or not token.isascii() or not token.isprintable():
        raise InputError(
            f"expected the token of your account in ${TOKEN_VARIABLE} or in --token-file FILE, got none; "
            "make one on your account's page"
        )
    return token


class Client:
    """Requests to one server.

    Args:
        address: of the server, such as https://challenge.example.org.
        token: of an account; empty for what everybody may see.

    Raises InputError for an address that is none.
    """

    def __init__(self, address: str, token: str = "") -> None:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"expected an address such as https://challenge.example.org, got {address!r}")
        self.address, self._token = address.rstrip("/"), token

    def challenge(self) -> dict[str, Any]:
        """The challenge: tracks, phases, times and quotas."""
        found: list[dict[str, Any]] = self.get("/api/v1/challenges")
        return found[0]

    def submit_log(self, phase: str, pieces: Iterable[bytes], team: str | None = None) -> str:
        """Submit a packed log (log_format.pack_log); the submission's id. Raises as `get` does."""
        return self._upload(phase, "submissions", pieces, team)

    def submit_trajectories(self, phase: str, pieces: Iterable[bytes], team: str | None = None) -> str:
        """Submit packed files of trajectories (trajectory_files.pack_trajectories), as submit_log a log."""
        return self._upload(phase, "trajectories", pieces, team)

    def _upload(self, phase: str, route: str, pieces: Iterable[bytes], team: str | None) -> str:
        path = f"/api/v1/phases/{urllib.parse.quote(phase, safe='')}/{route}"
        query = "?" + urllib.parse.urlencode({"team": team}) if team is not None else ""
        with tempfile.TemporaryFile() as file:
            for piece in pieces:
                file.write(piece)
            length = file.tell()
            headers = {"Content-Type": MEDIA_TYPE, "Content-Length": str(length)}

            def body() -> Any:
                file.seek(0)
                return file

            return str(self._send("POST", path + query, body, headers)["id"])

    def submit_live(self, phase: str, said: bytes, team: str | None = None) -> str:
        """Make a live submission from the JSON of live.intake.LiveAbout; its id. Raises as `get` does."""
        path = f"/api/v1/phases/{urllib.parse.quote(phase, safe='')}/live"
        query = "?" + urllib.parse.urlencode({"team": team}) if team is not None else ""
        headers = {"Content-Type": "application/json"}
        return str(self._send("POST", path + query, lambda: said, headers)["id"])

    def stream_address(self, public_id: str) -> str:
        """The address of the stream of a live submission."""
        return f"ws{self.address.removeprefix('http')}/api/v1/live/{urllib.parse.quote(public_id, safe='')}"

    def submission(self, public_id: str) -> dict[str, Any]:
        """State, progress and numbers of a submission."""
        found: dict[str, Any] = self.get(f"/api/v1/submissions/{urllib.parse.quote(public_id, safe='')}")
        return found

    def watch(self, public_id: str, poll_seconds: float = 1.0) -> Iterator[dict[str, Any]]:
        """The submission again and again, until it has ended."""
        while True:
            found = self.submission(public_id)
            yield found
            if found["state"] in FINAL:
                return
            time.sleep(poll_seconds)

    def get(self, path: str) -> Any:
        """The JSON at `path`.

        Raises Refusal with the server's code and words, and InputError for a server that does not answer or
        is none of ours.
        """
        return self._send("GET", path, lambda: None, {})

    def _send(self, method: str, path: str, body: Callable[[], Any], headers: Mapping[str, str]) -> Any:
        given = {**headers, "Accept": "application/json"}
        if self._token:
            given["Authorization"] = f"Bearer {self._token}"
        for left in reversed(range(RETRIES)):
            request = urllib.request.Request(self.address + path, body(), given, method=method)
            try:
                with urllib.request.urlopen(request, timeout=SECONDS) as response:
                    return _read_json(response.read(), self.address)
            except urllib.error.HTTPError as error:
                raise _read_refusal(error, self.address) from None
            except OSError as error:
                if not left:
                    reason = getattr(error, "reason", error)
                    raise InputError(
                        f"expected a challenge server at {self.address}, got no answer ({reason}); check the "
                        "address, and that the server runs"
                    ) from error
                time.sleep(2.0 ** (RETRIES - left) / 4)
        raise InputError(f"expected a challenge server at {self.address}, got no answer")


def _read_json(data: bytes, address: str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise InputError(
            f"expected a challenge server at {address}, got an answer that is no JSON"
        ) from error


def _read_refusal(error: urllib.error.HTTPError, address: str) -> InputError:
    try:
        said = json.loads(error.read())["error"]
        return Refusal(str(said["code"]), f"the server refused: {said['message']}", error.code)
    except (KeyError, TypeError, ValueError):
        return InputError(f"expected a challenge server at {address}, got the status {error.code}")
