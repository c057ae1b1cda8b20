"""`navarena submit`: send a run, or an agent, to a challenge server."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.core.errors import CheckFailedError, InputError

Text = str | None


@dataclass(frozen=True)
class Submit:
    """Submit the log of a run to a phase of a challenge, and wait until the server has executed it.

    The token of your account is read from $NAVARENA_TOKEN or --token-file. With --json, one document is
    printed with the keys that the server's interface gives for a submission (id, state, rank_mean, summary,
    error and others). The exit code is 1 for a submission that the server executed and refused, 2 for one
    that it did not take. The same run counts once, however often it is sent.
    """

    url: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="URL")]
    """Address of the challenge server."""
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder of the run, as `navarena evaluate` printed it; of a phase of several runs all their folders."""
    phase: str
    """Name of the phase."""
    track: Text = None
    """Name of the track; not needed where there is one."""
    method: Text = None
    """What the leaderboard calls it; the agent's name by default."""
    team: Text = None
    """For which of your teams; not needed where you have one."""
    link: str = ""
    """Address of a text about it."""
    code_link: str = ""
    """Address of its code."""
    hardware: str = ""
    """On what it ran; by default what the run says."""
    model_size: int | None = None
    """Parameters of the agent."""
    training_frames: int | None = None
    """Frames that it learned from."""
    demonstrations: int | None = None
    """Demonstrations that it learned from."""
    token_file: Path | None = None
    """File that holds your token."""
    no_wait: bool = False
    """Do not wait for the end."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Submit and wait; the exit code is 0, or 1 for numbers that did not come out again."""
        from navarena.web.challenge.client import Client, find_token
        from navarena.web.challenge.log_format import pack_log

        if not self.runs:
            raise InputError("expected the folder of a run, got none; `navarena evaluate` prints it")
        client = Client(self.url, find_token(self.token_file))
        about = self._describe(client.challenge())
        public_id = client.submit_log(self.phase, pack_log(about, self.runs), self.team)
        console.text(f"submitted as {public_id}")
        found = client.submission(public_id)
        if not self.no_wait:
            with console.progress(found["episodes"], "the server executes") as progress:
                done = 0
                for found in client.watch(public_id):
                    progress.advance(found["finished_episodes"] - done)
                    done = found["finished_episodes"]
        console.result(found)
        return self._tell(console, found)

    def _describe(self, challenge: dict[str, Any]) -> Any:
        """What the team says of the submission; log_format.About."""
        import msgspec

        from navarena.core.errors import require_name
        from navarena.evaluation.records.record import read_record
        from navarena.web.challenge.log_format import About

        tracks = [one["name"] for one in challenge["tracks"]]
        require_name("phase", self.phase, [one["name"] for one in challenge["phases"]])
        if self.track is None and len(tracks) > 1:
            raise InputError(f"expected --track of {', '.join(tracks)}, got none")
        record = read_record(self.runs[0])
        said = {
            "track": require_name("track", self.track or tracks[0], tracks),
            "method": self.method or record.agent,
            "link": self.link,
            "code_link": self.code_link,
            "hardware": self.hardware or str(record.hardware.get("processor", ""))[:200],
            "model_size": self.model_size,
            "training_frames": self.training_frames,
            "demonstrations": self.demonstrations,
        }
        try:
            return msgspec.convert(said, About)
        except msgspec.ValidationError as error:
            raise InputError(f"{error}; give other flags") from error

    def _tell(self, console: Console, found: dict[str, Any]) -> int:
        if found["error"] is not None:
            message = f"{found['state']} ({found['error']['code']}): {found['error']['message']}"
            if found["state"] == "refused":
                raise CheckFailedError(message)
            raise InputError(message)
        console.text(f"{found['state']}: {found['checked']}")
        for part in (found["summary"] or {}).get("parts", []):
            rows = [(one["title"], one["mean"], one["low"], one["high"]) for one in part["metrics"].values()]
            console.table(part["identity"], ("metric", "mean", "low", "high"), rows)
        return 0
