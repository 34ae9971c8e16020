import { useEffect, useState } from "preact/hooks";
import { listSubscriptions } from "../api/notices";
import { textOf } from "../api/problem";
import type { Lease, NewSubscription, Subscription } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { ShownOnce } from "../page/ShownOnce";
import { catalogue } from "../search/catalogue";
import { NewSubscriptionForm } from "./NewSubscriptionForm";
import { SubscriptionCard } from "./SubscriptionCard";

/** The project's subscriptions to notices; the form begins with *lease*, if there is one. */
export function Subscriptions({ lease }: { lease: Lease | null }) {
  const [found, setFound] = useState<readonly Subscription[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [adding, setAdding] = useState(lease !== null);
  const [made, setMade] = useState<NewSubscription | null>(null);
  const read = () => listSubscriptions().then(setFound, (reason: unknown) => setProblem(textOf(reason)));
  useEffect(() => void read(), []);
  const isSent = (catalogue.value?.subscription_kinds.length ?? 0) > 0;

  function added(subscription: NewSubscription) {
    setMade(subscription);
    setAdding(false);
    announce(t.notices.made);
    void read();
  }

  return (
    <section class="panel" aria-labelledby="notices-title">
      <header class="row">
        <h2 id="notices-title">{t.notices.title}</h2>
        {isSent && (
          <button type="button" aria-expanded={adding} onClick={() => setAdding(!adding)}>
            {t.notices.create}
          </button>
        )}
      </header>
      <p class="muted">{isSent || !catalogue.value ? t.notices.hint : t.notices.notSent}</p>
      {isSent && adding && <NewSubscriptionForm lease={lease} onMade={added} />}
      {made?.secret && <ShownOnce label={t.notices.secret} value={made.secret} hint={t.notices.secretHint} />}
      {problem && <p class="problem">{problem}</p>}
      {found === null && !problem && <p class="muted">{t.loading}</p>}
      {isSent && found?.length === 0 && <p class="muted">{t.notices.none}</p>}
      {found?.map((each) => (
        <SubscriptionCard key={each.id} subscription={each} onChange={read} />
      ))}
    </section>
  );
}
