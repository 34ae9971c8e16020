import { useEffect, useRef } from "preact/hooks";
import type { LeasePreview } from "../api/values";
import { EndInWords } from "../leases/EndInWords";
import { announce } from "../page/announce";
import { refreshLeases, showNew } from "../leases/store";
import { t } from "../messages";
import { zone } from "../page/preferences";
import { catalogue, readCatalogue, typeOf } from "../search/catalogue";
import { amountsText } from "../search/amounts";
import { searchAgain } from "../search/store";
import { minute, now } from "../time/clock";
import { clockText, dateText } from "../time/format";
import { fromApi } from "../time/instant";
import { Countdown, Period } from "../time/When";
import { DraftDates } from "./DraftDates";
import { type Part, changePart, discard, draft, editing, rename, reserve, takeAlternative } from "./draft";
import { Refusal } from "./Refusal";

/** Below this width, the page has one column. */
const NARROW = 900;

/** The lease that is being prepared: what it gets, its quota and its cost, before anything is reserved. */
export function DraftPanel() {
  const panel = useRef<HTMLElement>(null);
  const current = draft.value;
  const first = current?.parts[0]?.id;
  useEffect(() => {
    if (first === undefined) return;
    panel.current?.scrollIntoView({ block: innerWidth < NARROW ? "start" : "nearest" });
    panel.current?.querySelector("h2")?.focus({ preventScroll: true });
  }, [first]);
  if (!current) return null;
  const name = current.name ?? defaultName(current.parts);
  const possible = current.parts.every((each) => each.check.kind === "possible");

  async function submit(event: Event) {
    event.preventDefault();
    const made = await reserve(name.trim());
    if (made.length) {
      announce(t.draft.reserved(name));
      showNew(made.map((each) => each.id));
      document.getElementById("leases-title")?.focus();
    }
    searchAgain.value += 1;
    await Promise.all([refreshLeases(), readCatalogue()]);
  }

  return (
    <section class="panel draft" ref={panel} aria-labelledby="draft-title">
      <h2 id="draft-title" tabIndex={-1}>{t.draft.title}</h2>
      <form onSubmit={submit}>
        <label class="field">
          <span>{t.draft.name}</span>
          <input required maxLength={80} value={name} onInput={(event) => rename(event.currentTarget.value)} />
        </label>
        {current.parts.map((part, number) => (
          <PartOf key={part.id} part={part} number={number + 1} count={current.parts.length} />
        ))}
        {current.problem && (
          <>
            {current.done > 0 && <p class="problem">{t.draft.someReserved(current.done)}</p>}
            <Refusal {...current.problem} onTake={takeAlternative} />
          </>
        )}
        <p class="actions">
          <button class="primary" disabled={!possible || editing.value || current.busy || !name.trim()}>
            {current.busy ? t.draft.reserving : t.draft.reserve}
          </button>
          <button type="button" onClick={discard}>
            {t.cancel}
          </button>
        </p>
      </form>
    </section>
  );
}

function defaultName(parts: readonly Part[]): string {
  const preview = parts.map((each) => (each.check.kind === "possible" ? each.check.preview : null))[0];
  const start = parts[0]!.request.start_date;
  const at = start === "now" ? minute.value : fromApi(start);
  const reservations = preview?.reservations ?? parts[0]!.request.reservations.map(asked);
  return t.draft.defaultName(amountsText(reservations), `${dateText(at, zone())} ${clockText(at, zone())}`).slice(0, 80);
}

function asked(reservation: Readonly<{ resource_type: string } & Record<string, unknown>>) {
  const amount = Number(reservation["max"] ?? reservation["amount"] ?? 1);
  return { resource_type: reservation.resource_type, amount };
}

function PartOf({ part, number, count }: { part: Part; number: number; count: number }) {
  return (
    <div class="part-of-draft">
      {count > 1 && <h3>{t.draft.part(number, count)}</h3>}
      <DraftDates part={part} onChange={(change) => changePart(part.id, change)} />
      {part.check.kind === "checking" && <p class="muted">{t.draft.checking}</p>}
      {part.check.kind === "refused" && (
        <Refusal message={part.check.message} refusal={part.check.refusal} onTake={takeAlternative} />
      )}
      {part.check.kind === "possible" && <Preview part={part} preview={part.check.preview} />}
    </div>
  );
}

function Preview({ part, preview }: { part: Part; preview: LeasePreview }) {
  return (
    <>
      <dl class="facts">
        <dt>{t.draft.gets}</dt>
        <dd>
          {amountsText(preview.reservations)}
          <br />
          <Period start={fromApi(preview.start_date)} end={fromApi(preview.end_date)} />
        </dd>
        <dt>{t.draft.quota}</dt>
        <dd>
          <Quotas preview={preview} />
        </dd>
        <dt>{t.draft.cost}</dt>
        <dd>
          {preview.costs.length === 0
            ? t.draft.noCost
            : preview.costs.map((each) => `${each.amount} ${each.unit}`).join(", ")}
        </dd>
        <dt>{t.draft.atEnd}</dt>
        <dd>
          <EndInWords reservations={preview.reservations} />
        </dd>
      </dl>
      <Held part={part} />
    </>
  );
}

function Quotas({ preview }: { preview: LeasePreview }) {
  const quotas = catalogue.value?.limits.quotas ?? [];
  const lines = quotas.flatMap(({ name, used, limit }) => {
    const counted = preview.reservations.filter((each) => quotaCounts(name, each.resource_type));
    const added = name === "leases" ? 1 : counted.reduce((sum, each) => sum + each.amount, 0);
    return limit === null || added === 0 ? [] : [t.draft.quotaLine(name, used, limit, added)];
  });
  return lines.length ? <>{lines.map((each) => <div key={each}>{each}</div>)}</> : <>{t.draft.noQuota}</>;
}

/** Return whether a quota is that of the units of a type, such as `reserved_hosts`. */
function quotaCounts(quota: string, resourceType: string): boolean {
  const unit = typeOf(resourceType)?.unit;
  return unit !== undefined && quota === `reserved_${unit}s`;
}

function Held({ part: { hold } }: { part: Part }) {
  if (hold.kind === "holding") return <p class="muted">{t.draft.holding}</p>;
  if (hold.kind === "failed") return <p class="muted">{t.draft.notHeld(hold.message)}</p>;
  if (hold.kind !== "held") return null;
  const until = fromApi(hold.offer.expires_at);
  if (until <= now.value) return <p class="muted">{t.draft.holdExpired}</p>;
  return (
    <p class="muted">
      {t.draft.held} <Countdown to={until} />
    </p>
  );
}
