import { useState } from "preact/hooks";
import { textOf } from "../api/problem";
import type { Lease } from "../api/values";
import { t } from "../messages";
import { LeaseCard } from "./LeaseCard";
import { endedLeases, isMine, leases, leasesProblem, newLeases } from "./store";

type Shown = "mine" | "projects" | "ended";

/** The leases of the user, of the project, or those that are over; with *most*, only the first ones of each. */
export function LeaseList({ most = Infinity }: { most?: number }) {
  const [shown, setShown] = useState<Shown>("mine");
  const tab = (which: Shown, text: string) => (
    <button type="button" aria-pressed={shown === which} onClick={() => setShown(which)}>
      {text}
    </button>
  );
  const current = leases.value?.filter((each) => shown === "projects" || isMine(each));
  return (
    <section class="leases" aria-labelledby="leases-title">
      <header>
        <h2 id="leases-title" tabIndex={-1}>{t.leases.all}</h2>
        <span class="choice">
          {tab("mine", t.leases.mine)}
          {tab("projects", t.leases.projects)}
          {tab("ended", t.leases.filters.ended)}
        </span>
      </header>
      {leasesProblem.value && <p class="problem">{leasesProblem.value}</p>}
      {shown === "ended" ? (
        <Ended />
      ) : !current ? (
        <p class="muted">{t.loading}</p>
      ) : current.length === 0 ? (
        <p class="muted">{shown === "mine" ? t.leases.empty : t.leases.noneMatch}</p>
      ) : (
        firstOf(current, most).map((each) => <LeaseCard key={each.id} lease={each} />)
      )}
      {current && shown !== "ended" && current.length > most && (
        <p>
          <a href="#leases">{t.leases.allOf(current.length)}</a>
        </p>
      )}
    </section>
  );
}

/** Return the first leases, and those that were just made. */
function firstOf(all: readonly Lease[], most: number): Lease[] {
  const made = all.filter((each) => newLeases.value.has(each.id));
  return [...made, ...all.filter((each) => !made.includes(each)).slice(0, Math.max(0, most - made.length))];
}

function Ended() {
  const [found, setFound] = useState<readonly Lease[]>([]);
  const [next, setNext] = useState<string | null | undefined>(undefined);
  const [problem, setProblem] = useState<string | null>(null);
  const [asked, setAsked] = useState(false);

  async function more() {
    setAsked(true);
    try {
      const page = await endedLeases(next ?? null);
      setFound([...found, ...page.leases]);
      setNext(page.next);
    } catch (reason) {
      setProblem(textOf(reason));
    }
  }

  if (!asked) void more();
  return (
    <>
      {problem && <p class="problem">{problem}</p>}
      {next === undefined && !problem && <p class="muted">{t.loading}</p>}
      {next === null && found.length === 0 && <p class="muted">{t.leases.noneMatch}</p>}
      {found.map((each) => (
        <LeaseCard key={each.id} lease={each} />
      ))}
      {next && (
        <button type="button" onClick={() => void more()}>
          {t.leases.more}
        </button>
      )}
    </>
  );
}
