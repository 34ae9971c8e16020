"""Shell completion for both spellings of commands, and for zsh; cliff supports bash.

The functions of ``blazar complete`` also ask the program for the values of options that the service knows.
"""

from __future__ import annotations

import argparse
from typing import Any

from cliff import complete

from blazarclient import completion_words, spellings
from blazarclient.i18n import _

_HEADER = """#compdef {name}
# Source this file, or save it as _{name} in a directory of $fpath.
_{escaped}()
{{
  local cmd proposed value word
"""
_TRAILER = """
  local completed="${{cmds}}"
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    [[ "${{word}}" == -* ]] && break
    proposed="${{cmd:+${{cmd}}_}}${{word//-/_}}"
    value="cmds_${{proposed}}"
    [[ -z "${{(P)value}}" ]] && break
    cmd="${{proposed}}"
    completed="${{(P)value}}"
  done
  if [[ "${{completed}}" == -* && "${{words[CURRENT]}}" != -* ]]; then
    _files
  else
    compadd -- ${{=completed}}
  fi
}}
if [[ "${{funcstack[1]}}" == _{escaped} ]]; then
  _{escaped} "$@"
else
  compdef _{escaped} {name}
fi
"""

# In bash, = and : end a word: what precedes the last of them must not be proposed again.
_BASH_VALUES = """
_{escaped}_values()
{{
  local cur prev words cword asked start known
  _get_comp_words_by_ref -n := cur prev words cword
  case "$prev" in
    {options}) asked="$prev" ;;
    availability) asked={requirement} ;;
  esac
  if [[ -z "$asked" || "$cur" == -* ]]; then
    _{escaped}
    return
  fi
  case "$asked" in
    {lists}) start="${{cur%"${{cur##*,}}"}}" ;;
  esac
  known="$({name} complete --values="$asked" 2>/dev/null)"
  COMPREPLY=( $(compgen -P "$start" -W "$known" -- "${{cur#"$start"}}") )
  COMPREPLY=( "${{COMPREPLY[@]#"${{cur%"${{cur##*[=:]}}"}}"}}" )
  [[ ${{#COMPREPLY[@]}} == 1 && "${{COMPREPLY[0]}}" == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}}
complete -F _{escaped}_values {name}
"""
_ZSH_VALUES = """  local asked
  case "${{words[CURRENT-1]}}" in
    {options}) asked="${{words[CURRENT-1]}}" ;;
    availability) asked={requirement} ;;
  esac
  if [[ -n "${{asked}}" && "${{words[CURRENT]}}" != -* ]]; then
    case "${{asked}}" in
      {lists}) compset -P '*,' ;;
    esac
    compadd -S '' -- ${{(f)"$({name} complete --values="${{asked}}" 2>/dev/null)"}}
    return
  fi
"""


def _values(text: str, shell: complete.CompleteShellBase) -> str:
    """Return the part of a completion function that completes the values of options."""
    return text.format(
        name=shell.name,
        escaped=shell.escaped_name,
        options="|".join(each for each in completion_words.VALUES if each.startswith("-")),
        lists="|".join(completion_words.LISTS),
        requirement=completion_words.REQUIREMENT,
    )


class CompleteBashValues(complete.CompleteBash):
    """Bash completion of commands, options, and the values of options that the service knows."""

    def get_trailer(self) -> str:
        """Return the text after the words."""
        return super().get_trailer() + _values(_BASH_VALUES, self)


class CompleteZsh(complete.CompleteShellBase):
    """Zsh completion of commands and options; other words complete as files."""

    def get_header(self) -> str:
        """Return the text before the words."""
        return _HEADER.format(name=self.name, escaped=self.escaped_name)

    def write(self, cmdo: str, data: list[tuple[str, str]]) -> None:
        """Write the completion function, with its words in local variables."""
        self.output.write(self.get_header())
        self.output.write(f"  local cmds='{cmdo}'\n")
        for name, words in data:
            self.output.write(f"  local cmds_{name.replace('-', '_')}='{words}'\n")
        self.output.write(self.get_trailer())

    def get_trailer(self) -> str:
        """Return the text after the words."""
        return _TRAILER.format(name=self.name, escaped=self.escaped_name)


class CompleteZshValues(CompleteZsh):
    """The same, and the values of options that the service knows."""

    def get_header(self) -> str:
        """Return the text before the words."""
        return super().get_header() + _values(_ZSH_VALUES, self)


_WITH_VALUES = {"bash": CompleteBashValues, "zsh": CompleteZshValues}


class CompleteBothSpellings(complete.CompleteCommand):
    """Print a shell function that completes command lines."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.allow_abbrev = False
        parser.add_argument(
            "--values",
            choices=sorted(completion_words.VALUES),
            metavar="<option>",
            help=_("instead, print the values that the service knows for this option: --values=--same"),
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the function, or the values of an option."""
        if parsed_args.values:
            # The client is made in the thread that asks, because it may have to ask for a token first.
            app: Any = self.app
            found = completion_words.words(parsed_args.values, lambda: app.client.catalogue.get())
            self.app.stdout.write("".join(f"{each}\n" for each in found))
            return 0
        name = parsed_args.shell
        make = _WITH_VALUES.get(name) or self._formatters[name].plugin
        shell = make(parsed_args.name or self.app.NAME, self.app.stdout)
        words = complete.CompleteDictionary()
        for name, _entry in self.app.command_manager:
            actions = self.get_actions([name])
            for spelling in spellings.of(name):
                words.add_command(spelling.split(), actions)
        shell.write(words.get_commands(), words.get_data())
        return 0
