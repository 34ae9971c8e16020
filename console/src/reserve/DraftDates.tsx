import { useEffect, useState } from "preact/hooks";
import type { LeaseRequest } from "../api/values";
import { t } from "../messages";
import { zone } from "../page/preferences";
import { draft, editing, type Part } from "./draft";
import { minute } from "../time/clock";
import { inputText } from "../time/format";
import { fromApi, toApi } from "../time/instant";
import { readMoment } from "../time/reading";
import { When } from "../time/When";

const TYPING_PAUSE = 600;

/** Start and end of a lease that is being prepared. A later start keeps the duration. */
export function DraftDates({ part, onChange }: { part: Part; onChange: (change: Partial<LeaseRequest>) => void }) {
  const { request } = part;
  const start = request.start_date === "now" ? null : fromApi(request.start_date);
  const end = fromApi(request.end_date);
  const [startText, setStartText] = useState(start === null ? t.time.now : inputText(start, zone()).replace("T", " "));
  const [endText, setEndText] = useState(inputText(end, zone()).replace("T", " "));
  const [touched, setTouched] = useState<"start" | "end" | null>(null);
  const newStart = readMoment(startText, minute.value, zone());
  const newEnd = readMoment(endText, minute.value, zone(), { asEnd: true });
  const latest = draft.value?.latestStart ?? null;

  useEffect(() => {
    if (!touched || newStart === null || newEnd === null) return undefined;
    const length = end - (start ?? minute.value);
    const moved = touched === "start" ? newStart + length : newEnd;
    if (moved <= newStart) return undefined;
    const timer = setTimeout(() => {
      setTouched(null);
      setEndText(inputText(moved, zone()).replace("T", " "));
      onChange({
        start_date: newStart <= minute.value ? "now" : toApi(newStart),
        end_date: toApi(moved),
      });
    }, TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [startText, endText]);

  const bad = newStart === null || newEnd === null || (touched === "end" && newEnd <= newStart);
  return (
    <>
      <div class="two">
        <label class="field">
          <span>{t.draft.start}</span>
          <input
            value={startText}
            onInput={(event) => {
              editing.value = true;
              setTouched("start");
              setStartText(event.currentTarget.value);
            }}
          />
        </label>
        <label class="field">
          <span>{t.draft.end}</span>
          <input
            value={endText}
            onInput={(event) => {
              editing.value = true;
              setTouched("end");
              setEndText(event.currentTarget.value);
            }}
          />
        </label>
      </div>
      {bad && <p class="problem">{newStart === null ? t.search.badEarliest : newEnd === null ? t.search.badLatest : t.draft.badTimes}</p>}
      {latest !== null && latest > (start ?? minute.value) + 60_000 && (
        <p class="muted">
          {t.draft.startBetween} <When at={latest} />.
        </p>
      )}
    </>
  );
}
