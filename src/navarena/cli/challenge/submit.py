"""`navarena submit`: send a run, or an agent, to a challenge server."""

import contextlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from navarena.cli.console import Console, Progress
from navarena.core.errors import CheckFailedError, InputError, require_extra

if TYPE_CHECKING:
    from navarena.web.challenge.client import Client
    from navarena.web.challenge.log_format import About

Text = str | None


@dataclass(frozen=True)
class Submit:
    """Submit the log of a run, or a live agent, to a phase of a challenge, and wait for its numbers.

    With --agent the agent acts here, in episodes that the server holds. A file in the place of a run is a
    results file of an earlier challenge: R2R's JSON list of paths, or RoboTHOR's of 2021.

    The token of your account is read from $NAVARENA_TOKEN or --token-file. With --json, one document is
    printed with the keys that the server's interface gives for a submission (id, state, rank_mean, summary,
    error and others). The exit code is 1 for a submission that the server executed and refused, 2 for one
    that it did not take. The same run counts once, however often it is sent.
    """

    url: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="URL")]
    """Address of the challenge server."""
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder of the run, as `navarena evaluate` printed it, or a results file; of a phase of several runs all
    of them, files in the phase's order."""
    phase: str
    """Name of the phase."""
    agent: Text = None
    """Instead of a run: an agent, as in `navarena evaluate`, that acts in the server's episodes."""
    submission: Text = None
    """With --agent: resume this live submission."""
    track: Text = None
    """Name of the track; not needed if there is only one."""
    method: Text = None
    """Name on the leaderboard; the agent's name by default."""
    team: Text = None
    """Your team; not needed if you have only one."""
    link: str = ""
    """Address of a description, such as a paper."""
    code_link: str = ""
    """Address of its code."""
    hardware: str = ""
    """Hardware that it ran on; by default that recorded in the run."""
    model_size: int | None = None
    """Parameters of the agent."""
    training_frames: int | None = None
    """Frames of training."""
    demonstrations: int | None = None
    """Demonstrations used in training."""
    training_data: str = ""
    """Training data, in words."""
    privileged_inputs: tuple[str, ...] = ()
    """For a results file: privileged inputs of the agent."""
    trained_with: tuple[str, ...] = ()
    """For a results file: corruptions that the agent was trained with."""
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

        if bool(self.runs) == (self.agent is not None):
            raise InputError(
                "expected the folder of a run, which `navarena evaluate` prints, or --agent, got "
                f"{'both' if self.runs else 'neither'}"
            )
        client = Client(self.url, find_token(self.token_file))
        if self.agent is not None:
            return self._act(console, client, self.agent)
        from navarena.evaluation.records.record import read_record

        if any(path.is_file() for path in self.runs):
            public_id, about = self._send_files(client)
        elif self.privileged_inputs or self.trained_with:
            raise InputError(
                "expected --privileged-inputs and --trained-with for results files alone; runs say them"
            )
        else:
            record = read_record(self.runs[0])
            about = self._describe(
                client.challenge(), record.agent, str(record.hardware.get("processor", ""))
            )
            public_id = client.submit_log(self.phase, pack_log(about, self.runs), self.team)
        console.text(f"submitted as {public_id}")
        found = client.submission(public_id)
        if (found["track"], found["method"]) != (about.track, about.method):
            console.note(
                f"the same was submitted before, on the track {found['track']} as {found['method']!r}; it "
                "counts once and stays there"
            )
        if not self.no_wait:
            with console.progress(found["episodes"], "the server executes") as progress:
                done = 0
                for found in client.watch(public_id):
                    progress.advance(found["finished_episodes"] - done)
                    done = found["finished_episodes"]
        console.result(found)
        return self._tell(console, found)

    def _send_files(self, client: "Client") -> tuple[str, "About"]:
        """Submit results files; the submission's id, and what is said of it."""
        import msgspec

        from navarena.web.challenge.trajectory_files import FileClaim, pack_trajectories, read_results_file

        challenge = client.challenge()
        agent = self.method or self.runs[0].name.partition(".")[0]
        about = self._describe(challenge, agent, "")
        phase = next(one for one in challenge["phases"] if one["name"] == self.phase)
        files = [read_results_file(path, phase["split"]) for path in self.runs]
        said = {
            "layout": files[0][0],
            "agent": agent,
            "privileged_inputs": self.privileged_inputs,
            "trained_with": self.trained_with,
        }
        if len({layout for layout, _ in files}) > 1:
            raise InputError("expected results files of one layout, got several; submit them apart")
        try:
            claim = msgspec.convert(said, FileClaim)
        except msgspec.ValidationError as error:
            raise InputError(f"{error}; give other flags") from error
        members = [found for _, found in files]
        packed = pack_trajectories(about, claim, members)
        return client.submit_trajectories(self.phase, packed, self.team), about

    def _act(self, console: Console, client: "Client", agent: str) -> int:
        """Let `agent` act in a live submission until its end."""
        require_extra("websockets", "server")
        import msgspec

        from navarena.evaluation.records.record import describe_hardware
        from navarena.web.challenge.client import find_token
        from navarena.web.challenge.live.intake_form import LiveAbout
        from navarena.web.challenge.live.participant import Participant
        from navarena.web.challenge.live.stream import LiveStream
        from navarena.web.streaming import StreamError

        challenge = client.challenge()
        about = self._describe(challenge, agent, str(describe_hardware()["processor"]))
        phase = next(one for one in challenge["phases"] if one["name"] == self.phase)
        if self.submission is not None:
            _require_phase(client.submission(self.submission), self.phase)
        participant = Participant(agent, phase["protocol"])
        hello = participant.hello(find_token(self.token_file))
        public_id = self.submission
        if public_id is None:
            said = LiveAbout(
                about=about,
                agent=hello.agent,
                nonce=secrets.token_hex(16),
                privileged_inputs=hello.privileged_inputs,
                trained_with=hello.trained_with,
            )
            public_id = client.submit_live(self.phase, msgspec.json.encode(said), self.team)
        console.text(
            f"submitted as {public_id}; go on with --submission={public_id}, should this command end"
        )
        stream = LiveStream(client.stream_address(public_id), hello, console.note)
        with contextlib.ExitStack() as opened:
            opened.callback(stream.close)
            shown: list[Progress] = []
            done = 0

            def tell(finished: int, episodes: int) -> None:
                nonlocal done
                if not shown:
                    shown.append(opened.enter_context(console.progress(episodes, "the agent acts")))
                shown[0].advance(finished - done)
                done = finished

            try:
                participant.take_part(stream, tell)
            except StreamError as error:
                if error.code != "after_end":  # the connection broke while the server said that all is done
                    raise
        found = client.submission(public_id)
        if not self.no_wait:
            *_, found = client.watch(public_id)
        console.result(found)
        return self._tell(console, found)

    def _describe(self, challenge: dict[str, Any], agent: str, processor: str) -> "About":
        """The team's description of the submission."""
        import msgspec

        from navarena.core.errors import require_name
        from navarena.web.challenge.log_format import About

        tracks = [one["name"] for one in challenge["tracks"]]
        require_name("phase", self.phase, [one["name"] for one in challenge["phases"]])
        if self.track is None and len(tracks) > 1:
            raise InputError(f"expected --track of {', '.join(tracks)}, got none")
        said = {
            "track": require_name("track", self.track or tracks[0], tracks),
            "method": self.method or agent,
            "link": self.link,
            "code_link": self.code_link,
            "hardware": self.hardware or processor[:200],
            "model_size": self.model_size,
            "training_frames": self.training_frames,
            "demonstrations": self.demonstrations,
            "training_data": self.training_data,
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


def _require_phase(submission: dict[str, Any], phase: str) -> None:
    """Raise InputError for a submission to another phase than `phase`."""
    if submission["phase"] != phase:
        raise InputError(
            f"expected --phase {submission['phase']}, that of the submission {submission['id']}, got {phase}"
        )
