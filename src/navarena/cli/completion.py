"""`navarena completion`: a script by which a shell completes commands and flags."""

from dataclasses import dataclass

from navarena.cli.console import Console
from navarena.cli.flags import known_flags
from navarena.cli.main import COMMANDS
from navarena.core.registry import load_target

SCRIPT = """\
_navarena() {{
    local before="${{COMP_WORDS[*]:1:COMP_CWORD-1}} " words=""
    case "$before" in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _navarena navarena
"""


@dataclass(frozen=True)
class Completion:
    """Print a script that lets bash complete commands and flags; zsh reads it after `bashcompinit`."""

    json: bool = False
    """Print one JSON document with the key script."""

    def run(self, console: Console) -> int:
        """Print the script; the exit code is 0."""
        script = write_script()
        console.text(script)
        console.result({"script": script})
        return 0


def write_script() -> str:
    """The script: it holds the names of all commands and flags, so that a shell starts nothing."""
    words = {name + " ": known_flags(load_target(entry.target), name) for name, entry in COMMANDS.items()}
    for group in {name.split()[0] for name in COMMANDS if " " in name}:
        own = words.get(group + " ", [])  # a group may be a command, too
        words[group + " "] = [*own, *(name.split()[1] for name in COMMANDS if name.startswith(group + " "))]
    first = sorted({name.split()[0] for name in COMMANDS})
    longest_first = sorted(words, key=lambda name: (-len(name.split()), name))
    cases = [f'        " ") words="{" ".join(first)}" ;;']
    cases += [f'        "{name}"*) words="{" ".join(words[name])}" ;;' for name in longest_first]
    return SCRIPT.format(cases="\n".join(cases))
