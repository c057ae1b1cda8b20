"""The command `navarena`: finds the subcommand, reads its flags, turns errors into one line.

A subcommand is a frozen dataclass with a method `run(console) -> exit code`; its fields are
the flags. The table below names them by "module:Class", so that only the one that is asked
for is imported.
"""

import contextlib
import errno
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from navarena.cli.console import Console
from navarena.cli.process import explain_cut_files, open_standard_streams
from navarena.core.errors import InputError, NavarenaError

REFUSALS = {
    errno.ENOSPC: "no space left on the disk ({}); free some space",
    errno.ENAMETOOLONG: "expected a path that the system takes, got one that is too long ({})",
}
"""What the system refuses wherever a path is looked at, in words for people."""

MAX_LETTERS = 2000
"""Of an error's message."""

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells report it."""

UNREAD = 141
"""Exit code when the reader of our output has left: 128 + SIGPIPE, as shells report it."""


@runtime_checkable
class Command(Protocol):
    """Interface of a subcommand."""

    json: bool

    def run(self, console: Console) -> int:
        """Do the work; the return value is the exit code (0 success, 1 a check failed)."""
        ...


@dataclass(frozen=True)
class Entry:
    """A subcommand: its dataclass as "module:Class", and one line of help.

    `spell` names a function, "module:function", that writes out what its arguments abbreviate.
    """

    target: str
    help: str
    spell: str = ""


COMMANDS: Mapping[str, Entry] = {
    "evaluate": Entry("navarena.cli.runs.evaluate:Evaluate", "run an agent over a benchmark and report"),
    "play": Entry("navarena.cli.runs.play:Play", "play episodes by hand, in a browser"),
    "train": Entry(
        "navarena.cli.training.train:Train",
        "train a policy, a segmenter or a joint space by a recipe",
        "navarena.cli.training.train:spell_settings",
    ),
    "demos": Entry("navarena.cli.training.demos:Demos", "write what an agent saw and did as a data set"),
    "checkpoint info": Entry(
        "navarena.cli.training.checkpoint:CheckpointInfoCommand", "describe a checkpoint"
    ),
    "checkpoint export": Entry(
        "navarena.cli.training.checkpoint:CheckpointExport", "write a small copy that acts"
    ),
    "checkpoint select": Entry(
        "navarena.cli.training.checkpoint:CheckpointSelect", "choose the best checkpoint"
    ),
    "checkpoint curves": Entry("navarena.cli.training.curves:CheckpointCurves", "draw curves of trainings"),
    "checkpoint import": Entry(
        "navarena.cli.training.checkpoint_import:CheckpointImport", "turn published weights into a checkpoint"
    ),
    "serve": Entry("navarena.cli.challenge.serve:Serve", "host a challenge"),
    "serve export": Entry("navarena.cli.challenge.transfer:ServeExport", "write a challenge to a folder"),
    "serve import": Entry("navarena.cli.challenge.transfer:ServeImport", "restore a challenge from a folder"),
    "serve-worker": Entry(
        "navarena.cli.challenge.serve:ServeWorker", "execute the submissions of a challenge"
    ),
    "submit": Entry("navarena.cli.challenge.submit:Submit", "send a run to a challenge"),
    "export": Entry("navarena.cli.runs.exchange:Export", "write a run in the layout of reference code"),
    "import": Entry("navarena.cli.runs.exchange:Import", "turn results of other code into a run"),
    "failures": Entry("navarena.cli.runs.failures:Failures", "classify why episodes of a run failed"),
    "analyse": Entry("navarena.cli.runs.analyse:Analyse", "compute tables of the papers from runs"),
    "compare": Entry("navarena.cli.runs.compare:Compare", "compare finished runs on the same episodes"),
    "replay": Entry("navarena.cli.runs.replay:Replay", "re-execute a run's actions and check its metrics"),
    "report": Entry("navarena.cli.runs.report:Report", "write runs into one HTML page"),
    "robustness": Entry(
        "navarena.cli.runs.robustness:RobustnessCommand", "report the degradation under corruptions"
    ),
    "list": Entry("navarena.cli.listing:List", "list protocols, agents, sensors or scenes"),
    "doctor": Entry("navarena.cli.doctor:Doctor", "check what works here and what is missing"),
    "bench": Entry("navarena.cli.bench:Bench", "measure speed on this machine"),
    "scene import": Entry("navarena.cli.scenes.scene:SceneImport", "compile a mesh file"),
    "scene make": Entry("navarena.cli.scenes.scene:SceneMake", "generate a house"),
    "scene info": Entry("navarena.cli.scenes.scene:SceneInfo", "describe a scene"),
    "scene view": Entry("navarena.cli.scenes.view:SceneView", "walk through a scene, in a browser"),
    "scene preview": Entry("navarena.cli.scenes.scene:ScenePreview", "draw a scene into a PNG"),
    "episodes make": Entry("navarena.cli.episodes.episodes:EpisodesMake", "generate episodes for scenes"),
    "episodes info": Entry("navarena.cli.episodes.episodes:EpisodesInfo", "describe an episode file"),
    "episodes stats": Entry("navarena.cli.episodes.stats:EpisodesStats", "count and measure episodes"),
    "episodes audit": Entry("navarena.cli.episodes.audit:EpisodesAudit", "check episodes in their scenes"),
    "features make": Entry(
        "navarena.cli.episodes.features:FeaturesMake", "write what views on graphs look like"
    ),
    "tours make": Entry(
        "navarena.cli.episodes.tours:ToursMake", "order the paths of an R2R split into tours"
    ),
    "tours draw": Entry(
        "navarena.cli.episodes.tours_scoring:ToursDraw", "draw the tours of a run from above"
    ),
    "tours houses": Entry(
        "navarena.cli.episodes.tours_houses:ToursHouses", "write instructions and tours of houses"
    ),
    "tours coverage": Entry(
        "navarena.cli.episodes.tours_houses:ToursCoverage", "say what tours have seen so far"
    ),
    "tours score": Entry(
        "navarena.cli.episodes.tours_scoring:ToursScore", "score a results file of R2R or IR2R"
    ),
    "tours stats": Entry("navarena.cli.episodes.tours:ToursStats", "count tours and their episodes"),
    "corruptions sheet": Entry(
        "navarena.cli.scenes.corruptions:CorruptionsSheet", "draw examples of corruptions into a PNG"
    ),
    "corruptions recognise": Entry(
        "navarena.cli.scenes.recognition:CorruptionsRecognise", "recognise objects and corruptions in images"
    ),
    "goals make": Entry("navarena.cli.episodes.goals:GoalsMake", "find goals of GOAT-Bench in scenes"),
    "goals stats": Entry("navarena.cli.episodes.goals:GoalsStats", "count goals by modality and split"),
    "goals reword": Entry(
        "navarena.cli.episodes.goals:GoalsReword", "rewrite descriptions by a language model"
    ),
    "goals preview": Entry("navarena.cli.episodes.goals:GoalsPreview", "draw goals of a scene into a PNG"),
    "encoder calibrate": Entry(
        "navarena.cli.training.encoder:EncoderCalibrate", "choose when a goal encoder's matches are taken"
    ),
    "encoder score": Entry(
        "navarena.cli.training.encoder:EncoderScore", "score goal encoders by what they find"
    ),
    "anticipation score": Entry(
        "navarena.cli.training.anticipation:AnticipationScore",
        "score maps that a network continues, in houses",
    ),
    "cross-view score": Entry(
        "navarena.cli.training.cross_view:CrossViewScore",
        "score views that a network completes, in houses",
    ),
    "depth score": Entry(
        "navarena.cli.training.depth:DepthErrors",
        "score depth that a network predicts, in houses",
    ),
    "segmenter import": Entry(
        "navarena.cli.training.segmenter:SegmenterImport", "write published RedNet weights as a segmenter"
    ),
    "segmenter objects": Entry(
        "navarena.cli.training.segmenter:SegmenterObjects", "count what a segmenter gets wrong about objects"
    ),
    "segmenter score": Entry(
        "navarena.cli.training.segmenter:SegmenterScore", "score a segmenter class by class, in houses"
    ),
    "cache info": Entry("navarena.cli.cache:CacheInfo", "show what the cache folder holds"),
    "cache clear": Entry("navarena.cli.cache:CacheClear", "empty the cache folder"),
    "completion": Entry("navarena.cli.completion:Completion", "print a script for completion in a shell"),
}


MOVED: Mapping[str, str] = {
    "tours evaluate": "navarena evaluate PROTOCOL --agent NAME; on graphs with --dataset, --scenes, --tours",
    "list graph-agents": "navarena list agents",
}
"""Former names of commands -> the commands now."""


def describe_commands(group: str = "") -> str:
    """The help text: every subcommand, or those of `group`, with one line each."""
    rows = [(name, entry.help) for name, entry in COMMANDS.items() if name.startswith(group)]
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:{width}}  {text}" for name, text in rows]
    usage = f"usage: navarena {group + ' ' if group else ''}COMMAND [flags]"
    tail = "`navarena COMMAND --help` explains the flags; `navarena --version` names the version."
    return "\n".join([usage, "", *lines, "", tail])


def split_command(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """(subcommand, its own arguments); raises UnknownNameError with the nearest choice."""
    from navarena.core.errors import unknown_name

    first, rest = arguments[0], list(arguments[1:])
    if " ".join(arguments[:2]) in MOVED:
        old, new = " ".join(arguments[:2]), MOVED[" ".join(arguments[:2])]
        raise InputError(f"expected a command, got {old!r}, which is now: {new}")
    groups = {name.split()[0] for name in COMMANDS if " " in name}
    if " ".join(arguments[:2]) in COMMANDS:
        return " ".join(arguments[:2]), rest[1:]
    if first in COMMANDS:
        return first, rest
    if first not in groups:
        raise unknown_name("command", first, {name.split()[0] for name in COMMANDS})
    members = [name.split()[1] for name in COMMANDS if name.startswith(first + " ")]
    second = rest[0] if rest else ""
    if second not in members:
        raise unknown_name(f"{first} command", second, members)
    return f"{first} {second}", rest[1:]


def parse_command(name: str, arguments: Sequence[str]) -> Command:
    """The dataclass of subcommand `name` filled from `arguments`; raises InputError when they are wrong."""
    from navarena.cli.flags import read_flags
    from navarena.core.registry import load_target

    entry = COMMANDS[name]
    given = load_target(entry.spell)(arguments) if entry.spell else arguments
    parsed: Command = read_flags(load_target(entry.target), name, given)
    return parsed


def run_command(arguments: Sequence[str]) -> int:
    """Find, parse and run a subcommand, without handling its errors."""
    help_flags = ("-h", "--help", "help")
    if not arguments or arguments[0] in help_flags:
        print(describe_commands())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        from navarena import __version__

        print(f"navarena {__version__}")
        return 0
    if len(arguments) == 2 and arguments[1] in help_flags and arguments[0] not in COMMANDS:
        if any(name.startswith(arguments[0] + " ") for name in COMMANDS):
            print(describe_commands(arguments[0]))
            return 0
    from navarena.core.packages import naming_packages

    require_text(arguments)
    name, rest = split_command(arguments)
    with naming_packages():
        command = parse_command(name, rest)
        console = Console(json=command.json)
        with console.keep_stdout():
            return command.run(console)


def require_text(arguments: Sequence[str]) -> None:
    """Raise InputError for names in another encoding, which neither run.json nor a report can hold."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"expected arguments in UTF-8, got {argument!r}; rename that file or folder"
            ) from error


def shorten(text: str) -> str:
    """`text` without its middle where it is longer than people read: some messages quote files."""
    half = MAX_LETTERS // 2
    return text if len(text) <= MAX_LETTERS else f"{text[:half]} ... {text[-half:]}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the return value is the exit code.

    0 success, 1 a check failed, 2 bad input, 130 interrupted, 141 stopped because nobody reads the output.
    Errors made on purpose print one line to stderr, those of another package's code below its traceback;
    anything else is a defect and keeps its traceback.
    """
    open_standard_streams()
    explain_cut_files()
    try:
        return run_command(sys.argv[1:] if arguments is None else arguments)
    except NavarenaError as error:
        for note in getattr(error, "__notes__", ()):
            print(note, file=sys.stderr)
        print(f"error: {shorten(' '.join(str(error).split()))}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has left, as `navarena list | head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD  # the work may be half done
    except OSError as error:
        if error.errno == errno.EBADF:
            return _tell_closed(error)
        if error.errno not in REFUSALS:
            raise
        print(f"error: {REFUSALS[error.errno].format(str(error.filename)[:200])}", file=sys.stderr)
        return NavarenaError.exit_code


def _tell_closed(error: OSError) -> int:
    """Say, where that is still possible, that somebody closed our files; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
                continue
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1 if stream is sys.stdout else 2)
    print(f"error: a file of this process was closed, by its agent or its caller ({error})", file=sys.stderr)
    return NavarenaError.exit_code


if __name__ == "__main__":
    sys.exit(main())
