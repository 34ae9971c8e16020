"""Translation of messages in the domain ``blazarclient``; without a catalogue they stay English."""

from __future__ import annotations

import gettext

_ = gettext.translation("blazarclient", fallback=True).gettext
