import { useState } from "preact/hooks";
import { createFeed } from "../api/notices";
import type { FeedCreate, Lease, NewFeed } from "../api/values";
import { unit } from "../chart/store";
import { LeaseSelect } from "../leases/LeaseSelect";
import { t } from "../messages";
import { Problem, useAttempts } from "../page/attempt";
import { condition, typeOf } from "../search/catalogue";
import { wish } from "../search/store";
import { TypeSelect } from "../search/TypeSelect";
import { type EnteredFeed, feedRequest } from "./request";

const KINDS: readonly FeedCreate["kind"][] = ["user", "project", "lease", "availability"];

/** A form for a calendar. What is asked of the availability begins as in the search. */
export function NewFeedForm({ lease, onMade }: { lease: Lease | null; onMade: (feed: NewFeed) => void }) {
  const { property, resourceType } = wish.value;
  const [entered, setEntered] = useState<EnteredFeed>({
    kind: lease ? "lease" : "user",
    name: "",
    leaseId: lease?.id ?? "",
    alarm: "",
    resourceType,
    amount: "1",
    requirement: property ? condition(property.name, property.value) : "",
    unit: unit.value,
  });
  const { busy, problem, fail, attempt } = useAttempts();
  const enter = (part: Partial<EnteredFeed>) => setEntered({ ...entered, ...part });

  async function submit(event: Event) {
    event.preventDefault();
    const request = feedRequest(entered);
    if (typeof request === "string") return fail(request);
    await attempt(async () => onMade(await createFeed(request)));
  }

  const field = (key: "name" | "alarm" | "requirement", hint = "") => (
    <label class="field">
      <span>{t.feeds[key]}</span>
      <input value={entered[key]} placeholder={hint} onInput={(event) => enter({ [key]: event.currentTarget.value })} />
    </label>
  );
  return (
    <form class="inset" onSubmit={submit}>
      <div class="grid">
        <label class="field">
          <span>{t.feeds.shows}</span>
          <select
            value={entered.kind}
            onChange={(event) => enter({ kind: event.currentTarget.value as FeedCreate["kind"] })}
          >
            {KINDS.map((each) => (
              <option key={each} value={each}>
                {t.feeds.kinds[each]}
              </option>
            ))}
          </select>
        </label>
        {entered.kind === "lease" && (
          <LeaseSelect label={t.feeds.lease} value={entered.leaseId} onChange={(leaseId) => enter({ leaseId })} />
        )}
        {entered.kind === "availability" ? (
          <>
            <TypeSelect
              label={t.feeds.type}
              value={entered.resourceType}
              onChange={(type) => enter({ resourceType: type, ...unitFor(type) })}
            />
            <label class="field">
              <span>{t.feeds.amount}</span>
              <input
                type="number"
                required
                min={1}
                value={entered.amount}
                onInput={(event) => enter({ amount: event.currentTarget.value })}
              />
            </label>
            {field("requirement", "rack=r1")}
            {entered.unit !== null && (
              <label class="field">
                <span>{t.feeds.unit}</span>
                <input required value={entered.unit} onInput={(event) => enter({ unit: event.currentTarget.value })} />
              </label>
            )}
          </>
        ) : (
          field("alarm", t.feeds.alarmHint)
        )}
        {field("name")}
      </div>
      <Problem text={problem} />
      <p class="actions">
        <button class="primary" disabled={busy}>
          {t.feeds.submit}
        </button>
      </p>
    </form>
  );
}

/** Return the size of a unit with which the form begins for a type. */
function unitFor(resourceType: string): Pick<EnteredFeed, "unit"> {
  if (resourceType === wish.value.resourceType) return { unit: unit.value };
  const keys = typeOf(resourceType)?.unit_keys ?? [];
  return { unit: keys.length ? keys.map((each) => `${each}=`).join(",") : null };
}
