"""Rewrite the recording: python -m recorded [STORY …]; all stories by default."""

from __future__ import annotations

import argparse
import sys

from recorded.files import FOLDER, path_of, record
from recorded.playing import STOPPED, player
from recorded.stories import STORIES


def main() -> int:
    """Play stories and replace their files; without names, also delete files of removed stories."""
    parser = argparse.ArgumentParser(prog="recorded", description=__doc__)
    parser.add_argument("stories", nargs="*", metavar="STORY", help=", ".join(each.name for each in STORIES))
    asked = parser.parse_args().stories
    if unknown := set(asked) - {each.name for each in STORIES}:
        parser.error(f"no such story: {', '.join(sorted(unknown))}")
    with player() as play:
        for story in STORIES:
            if not asked or story.name in asked:
                answers = play(story)
                if STOPPED in answers[-1]:
                    sys.stderr.write(f"{story.name}: not recorded: {answers[-1][STOPPED]}\n")
                    return 1
                record(story, answers)
                sys.stdout.write(f"{story.name}: {len(story.requests)} requests\n")
    if not asked:
        for path in set(FOLDER.glob("*.json")) - {path_of(each) for each in STORIES}:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
