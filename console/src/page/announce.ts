import { signal } from "@preact/signals";

/** The last message about something that was done, which is shown for a while and read aloud. */
export const announcement = signal<{ readonly text: string; readonly at: number } | null>(null);

const SHOWN_FOR = 8000;

export function announce(text: string): void {
  const at = Date.now();
  announcement.value = { text, at };
  setTimeout(() => {
    if (announcement.value?.at === at) announcement.value = null;
  }, SHOWN_FOR);
}
