import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Calendar } from "../chart/Calendar";
import { LeaseList } from "../leases/LeaseList";
import { t } from "../messages";
import { DraftPanel } from "../reserve/DraftPanel";
import { SearchBar } from "../search/SearchBar";
import { Slots } from "../search/Slots";
import { session } from "../session/store";
import { SignIn } from "../session/SignIn";
import { Banner } from "./Banner";
import { isOperator, place } from "./place";
import { TopBar } from "./TopBar";

export function App() {
  return (
    <>
      {session.value && (
        <a class="skip" href="#content" onClick={(event) => skip(event)}>
          {t.page.skip}
        </a>
      )}
      {session.value && <TopBar />}
      <Banner />
      {session.value && (
        <main id="content" tabIndex={-1}>
          <Part />
        </main>
      )}
      <SignIn />
    </>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

type Load = () => Promise<{ readonly default: ComponentType }>;

const loadNotices: Load = () => import("../notices/Notices");
const loadOperators: Load = () => import("../operators/Operators");

/** A part that is loaded when it is first shown. */
function LoadedPart({ load }: { load: Load }) {
  const [Loaded, setLoaded] = useState<ComponentType | null>(null);
  useEffect(() => {
    void load().then((found) => setLoaded(() => found.default));
  }, []);
  return Loaded ? <Loaded /> : <p class="muted">{t.loading}</p>;
}

function Part() {
  if (place.value.part === "leases") {
    return (
      <>
        <h1 class="hidden">{t.page.leases}</h1>
        <LeaseList />
      </>
    );
  }
  if (place.value.part === "notices") return <LoadedPart key="notices" load={loadNotices} />;
  if (place.value.part === "operators" && isOperator.value) return <LoadedPart key="operators" load={loadOperators} />;
  return (
    <div class="reserve">
      <div class="find">
        <h1 class="hidden">{t.page.reserve}</h1>
        <SearchBar />
        <Slots />
        <Calendar />
      </div>
      <aside aria-label={t.leases.title}>
        <DraftPanel />
        <LeaseList most={4} />
      </aside>
    </div>
  );
}
