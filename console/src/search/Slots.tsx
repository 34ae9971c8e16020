import type { TimeSlot } from "../api/values";
import { t } from "../messages";
import { zone } from "../page/preferences";
import { draftOf, takeAlternative } from "../reserve/draft";
import { Refusal } from "../reserve/Refusal";
import { minute } from "../time/clock";
import { clockText, momentText, utcText } from "../time/format";
import { fromApi, MINUTE } from "../time/instant";
import { startOfDay } from "../time/zone";
import { type Start, startsOf } from "./starts";
import { isBusy, isOutdated, result, searching } from "./store";

const PROPOSED = 6;

/** The times that the search found; one click on one prepares a lease. */
export function Slots() {
  const found = result.value;
  return (
    <section class="slots" aria-label={t.search.title} aria-busy={isBusy.value}>
      <p class="muted status" role="status">
        {searching.value ? t.search.searching : found?.kind === "found" ? summary(startsOf(found.slots.slots, zone(), PROPOSED).length) : ""}
      </p>
      {found?.kind === "refused" && <Refusal message={found.message} refusal={found.refusal} onTake={takeAlternative} />}
      {found?.kind === "found" && (
        <>
          <ol>
            {startsOf(found.slots.slots, zone(), PROPOSED).map((each) => (
              <li key={`${each.slot.shape} ${each.start}`}>
                <Slot proposed={each} wanted={found.wish.count ?? 1} />
              </li>
            ))}
          </ol>
          {found.slots.slots.length === 0 && (
            <Refusal message={null} refusal={{ reasons: found.slots.reasons, alternatives: [] }} />
          )}
          {!found.slots.complete && <p class="muted">{t.search.incomplete}</p>}
        </>
      )}
    </section>
  );
}

function summary(count: number): string {
  return count ? t.search.found(count) : t.search.notFound;
}

function Slot({ proposed: { slot, start, end, request }, wanted }: { proposed: Start; wanted: number }) {
  const last = fromApi(slot.latest_start_date);
  const now = minute.value;
  const sameDay = startOfDay(start, zone()) === startOfDay(end, zone());
  const amount = slot.reservations.reduce((sum, each) => sum + each.amount, 0);
  const from = start - now < 2 * MINUTE ? t.time.now : momentText(start, zone(), now);
  return (
    <button
      type="button"
      class="slot"
      disabled={isOutdated.value}
      title={`${utcText(start)} – ${utcText(end)}`}
      onClick={() => draftOf(request, last)}
    >
      <strong>{from}</strong>
      <span> – {sameDay ? clockText(end, zone()) : momentText(end, zone(), now)}</span>
      {amount < wanted && <span class="part"> ({t.search.partOf(amount, wanted)})</span>}
      <Groups slot={slot} />
    </button>
  );
}

function Groups({ slot }: { slot: TimeSlot }) {
  const texts = slot.reservations.flatMap((each) =>
    each.groups.map(({ property, values }) => {
      const parts = values.map(({ value, amount }) => `${value}: ${amount}`).join(", ");
      return `${property} ${values.length === 1 ? values[0]!.value : parts}`;
    }),
  );
  return texts.length ? <small>{texts.join(" · ")}</small> : null;
}
