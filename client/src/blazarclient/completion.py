"""Completion of command lines in zsh: ``complete --shell zsh``; cliff has that of bash."""

from __future__ import annotations

from cliff import complete

_HEADER = """#compdef {name}
# Source this file, or put it as _{name} into a folder of $fpath.
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
    """Completion of commands and options; other words are files."""

    def get_header(self) -> str:
        """Return what stands before the words."""
        return _HEADER.format(name=self.name, escaped=self.escaped_name)

    def write(self, cmdo: str, data: list[tuple[str, str]]) -> None:
        """Write the function, its words as local variables."""
        self.output.write(self.get_header())
        self.output.write(f"  local cmds='{cmdo}'\n")
        for name, words in data:
            self.output.write(f"  local cmds_{name.replace('-', '_')}='{words}'\n")
        self.output.write(self.get_trailer())

    def get_trailer(self) -> str:
        """Return what stands behind the words."""
        return _TRAILER.format(name=self.name, escaped=self.escaped_name)
