import { useState } from "preact/hooks";
import { createSubscription } from "../api/notices";
import type { Lease, NewSubscription } from "../api/values";
import { LeaseSelect } from "../leases/LeaseSelect";
import { t } from "../messages";
import { Problem, useAttempts } from "../page/attempt";
import { isOperator } from "../page/place";
import { zone } from "../page/preferences";
import { catalogue } from "../search/catalogue";
import { wish } from "../search/store";
import { Events, SiteConditions } from "./Events";
import { type EnteredSubscription, type Kind, type Scope, subscriptionRequest } from "./request";

interface Props {
  lease: Lease | null;
  onMade: (subscription: NewSubscription) => void;
}

/** A form for a subscription to notices, by the kinds that the site has enabled. */
export function NewSubscriptionForm({ lease, onMade }: Props) {
  const kinds = catalogue.value?.subscription_kinds ?? [];
  const [entered, setEntered] = useState<EnteredSubscription>({
    kind: kinds[0] ?? "mail",
    scope: lease ? "lease" : "own",
    leaseId: lease?.id ?? "",
    address: "",
    url: "",
    leads: "",
    events: null,
    resourceType: wish.value.resourceType,
    below: "",
    waits: "",
  });
  const { busy, problem, fail, attempt } = useAttempts();
  const enter = (part: Partial<EnteredSubscription>) => setEntered({ ...entered, ...part });

  async function submit(event: Event) {
    event.preventDefault();
    const request = subscriptionRequest(entered, zone());
    if (typeof request === "string") return fail(request);
    await attempt(async () => onMade(await createSubscription(request)));
  }

  const scopes: Scope[] = ["own", "project", "lease", ...(isOperator.value ? (["site"] as const) : [])];
  const field = (key: "address" | "url" | "leads", hint: string) => (
    <label class="field">
      <span>{t.notices[key]}</span>
      <input
        inputMode={key === "url" ? "url" : key === "address" ? "email" : "text"}
        required={key === "url"}
        value={entered[key]}
        placeholder={hint}
        onInput={(event) => enter({ [key]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <form class="inset" onSubmit={submit}>
      <div class="grid">
        <label class="field">
          <span>{t.notices.kind}</span>
          <select value={entered.kind} onChange={(event) => enter({ kind: event.currentTarget.value as Kind })}>
            {kinds.map((each) => (
              <option key={each} value={each}>
                {t.notices.kinds[each]}
              </option>
            ))}
          </select>
        </label>
        {entered.kind === "mail"
          ? field("address", t.notices.addressHint)
          : field("url", "https://hooks.example.org/leases")}
        <label class="field">
          <span>{t.notices.scope}</span>
          <select value={entered.scope} onChange={(event) => enter({ scope: event.currentTarget.value as Scope })}>
            {scopes.map((each) => (
              <option key={each} value={each}>
                {t.notices.scopes[each]}
              </option>
            ))}
          </select>
        </label>
        {entered.scope === "lease" && (
          <LeaseSelect label={t.notices.lease} value={entered.leaseId} onChange={(leaseId) => enter({ leaseId })} />
        )}
        {field("leads", t.notices.leadsHint)}
        <SiteConditions entered={entered} onChange={enter} />
      </div>
      <Events entered={entered} onChange={enter} />
      <Problem text={problem} />
      <p class="actions">
        <button class="primary" disabled={busy || entered.events?.length === 0}>
          {t.notices.submit}
        </button>
      </p>
    </form>
  );
}
