"""Shell completion for both spellings of commands, and for zsh; cliff supports bash."""

from __future__ import annotations

import argparse

from cliff import complete

from blazarclient import spellings

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


class CompleteBothSpellings(complete.CompleteCommand):
    """Print a shell function that completes command lines."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.allow_abbrev = False
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the function."""
        shell = self._formatters[parsed_args.shell].plugin(parsed_args.name or self.app.NAME, self.app.stdout)
        words = complete.CompleteDictionary()
        for name, _entry in self.app.command_manager:
            actions = self.get_actions([name])
            for spelling in spellings.of(name):
                words.add_command(spelling.split(), actions)
        shell.write(words.get_commands(), words.get_data())
        return 0
