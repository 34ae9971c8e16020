import { useState } from "preact/hooks";
import { changeSubscription, deleteSubscription, testSubscription } from "../api/notices";
import type { Subscription, SubscriptionUpdate } from "../api/values";
import { leases } from "../leases/store";
import { t } from "../messages";
import { announce } from "../page/announce";
import { Problem, useAttempts } from "../page/attempt";
import { ConfirmButton } from "../page/ConfirmButton";
import { MINUTE } from "../time/instant";
import { durationText } from "../time/format";
import { eventsOf } from "./request";

interface Props {
  subscription: Subscription;
  onChange: () => Promise<void>;
}

/** A subscription with its state, and what its project does with it. */
export function SubscriptionCard({ subscription, onChange }: Props) {
  const { busy, problem, attempt } = useAttempts();
  const target = subscription.url ?? subscription.address ?? t.notices.ownAddress;

  async function run(act: Promise<void>, done: string) {
    await act;
    announce(done);
    await onChange();
  }

  const change = (body: SubscriptionUpdate) =>
    attempt(() => run(changeSubscription(subscription.id, body), t.notices.changed));

  return (
    <article class="inset" aria-label={target}>
      <p>
        <strong>{t.notices.kinds[subscription.kind]}</strong> · {target} · {scopeText(subscription)}
        {statesOf(subscription).map((each) => ` · ${each}`)}
      </p>
      <p class="muted">{eventsText(subscription)}</p>
      {subscription.problem && <p class="problem">{subscription.problem}</p>}
      <Problem text={problem} />
      {!subscription.confirmed && <Confirmation busy={busy} onConfirm={(code) => void change({ code })} />}
      <p class="actions">
        <button type="button" disabled={busy} onClick={() => void change({ enabled: !subscription.enabled })}>
          {subscription.enabled ? t.notices.disable : t.notices.enable}
        </button>
        <button
          type="button"
          disabled={busy || !subscription.enabled || !subscription.confirmed}
          onClick={() => void attempt(() => run(testSubscription(subscription.id), t.notices.tested))}
        >
          {t.notices.test}
        </button>
        {subscription.problem && (
          <button type="button" disabled={busy} onClick={() => void change({ enabled: true, resend: true })}>
            {t.notices.resend}
          </button>
        )}
        <ConfirmButton
          label={t.notices.remove}
          title={t.notices.removeTitle}
          text={t.notices.removeText}
          onConfirm={() => run(deleteSubscription(subscription.id), t.notices.removed)}
        />
      </p>
    </article>
  );
}

function scopeText(subscription: Subscription): string {
  const lease = leases.value?.find((each) => each.id === subscription.lease_id);
  return lease ? `${t.notices.scopes.lease}: ${lease.name}` : t.notices.scopes[subscription.scope];
}

function statesOf(subscription: Subscription): string[] {
  return [
    ...(subscription.enabled ? [] : [t.notices.disabled]),
    ...(subscription.confirmed ? [] : [t.notices.unconfirmed]),
    ...(subscription.default ? [t.notices.byDefault] : []),
  ];
}

function eventsText({ scope, events, lead_minutes: leads }: Subscription): string {
  const all = eventsOf(scope).every((each) => events.includes(each));
  const told = all ? t.notices.allEvents : events.map((each) => t.notices.event[each] ?? each).join(", ");
  return [told, ...(leads.length ? [leads.map((each) => durationText(each * MINUTE)).join(", ")] : [])].join(" · ");
}

function Confirmation({ busy, onConfirm }: { busy: boolean; onConfirm: (code: string) => void }) {
  const [code, setCode] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onConfirm(code.trim());
      }}
    >
      <p class="muted">{t.notices.confirmFirst}</p>
      <p class="row">
        <label class="field">
          <span>{t.notices.code}</span>
          <input value={code} onInput={(event) => setCode(event.currentTarget.value)} />
        </label>
        <button disabled={busy || !code.trim()}>{t.notices.confirm}</button>
      </p>
    </form>
  );
}
