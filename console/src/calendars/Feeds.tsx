import { useEffect, useState } from "preact/hooks";
import { deleteFeed, listFeeds } from "../api/notices";
import { textOf } from "../api/problem";
import type { Feed, Lease, NewFeed } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { ConfirmButton } from "../page/ConfirmButton";
import { ShownOnce } from "../page/ShownOnce";
import { session } from "../session/store";
import { fromApi } from "../time/instant";
import { When } from "../time/When";
import { NewFeedForm } from "./NewFeedForm";

/** The calendars of the project to which programs subscribe; the form begins with *lease*, if there is one. */
export function Feeds({ lease }: { lease: Lease | null }) {
  const [found, setFound] = useState<readonly Feed[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [adding, setAdding] = useState(lease !== null);
  const [made, setMade] = useState<NewFeed | null>(null);
  const read = () => listFeeds().then(setFound, (reason: unknown) => setProblem(textOf(reason)));
  useEffect(() => void read(), []);

  function added(feed: NewFeed) {
    setMade(feed);
    setAdding(false);
    announce(t.feeds.made);
    void read();
  }

  return (
    <section class="panel" aria-labelledby="feeds-title">
      <header class="row">
        <h2 id="feeds-title">{t.feeds.title}</h2>
        <button type="button" aria-expanded={adding} onClick={() => setAdding(!adding)}>
          {t.feeds.create}
        </button>
      </header>
      <p class="muted">{t.feeds.hint}</p>
      {adding && <NewFeedForm lease={lease} onMade={added} />}
      {made && <ShownOnce label={t.feeds.address} value={made.url} hint={t.feeds.addressHint} />}
      {problem && <p class="problem">{problem}</p>}
      {found === null && !problem && <p class="muted">{t.loading}</p>}
      {found?.length === 0 && <p class="muted">{t.feeds.none}</p>}
      {found?.map((each) => (
        <One key={each.id} feed={each} onChange={read} />
      ))}
    </section>
  );
}

function One({ feed, onChange }: { feed: Feed; onChange: () => Promise<void> }) {
  async function remove() {
    await deleteFeed(feed.id);
    announce(t.feeds.removed);
    await onChange();
  }

  return (
    <article class="inset" aria-label={feed.name}>
      <p>
        <strong>{feed.name}</strong> · {t.feeds.kinds[feed.kind]}
        {feed.user_id !== session.value?.user.id && ` · ${t.feeds.ofOthers}`}
      </p>
      <p class="muted">
        {feed.last_used_on ? `${t.feeds.lastUsed} ${feed.last_used_on}` : t.feeds.neverUsed}
        {feed.expires_at && (
          <>
            {" · "}
            {t.feeds.expires} <When at={fromApi(feed.expires_at)} />
          </>
        )}
      </p>
      <p class="actions">
        <ConfirmButton
          label={t.feeds.remove}
          title={t.feeds.removeTitle(feed.name)}
          text={t.feeds.removeText}
          onConfirm={remove}
        />
      </p>
    </article>
  );
}
