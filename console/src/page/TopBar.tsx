import { useState } from "preact/hooks";
import { t } from "../messages";
import { session, signOut, switchProject } from "../session/store";
import { ownZone } from "../time/zone";
import { type Theme, chosenZone, theme } from "./preferences";
import { type Place, isOperator, place } from "./place";

/** The name of the page, its parts, the project, and what concerns the user. */
export function TopBar() {
  const current = session.value!;
  const link = (to: Place["part"], text: string) => (
    <a href={`#${to}`} aria-current={place.value.part === to ? "page" : undefined}>
      {text}
    </a>
  );
  return (
    <header class="top">
      <span class="brand">{t.title}</span>
      <nav aria-label={t.title}>
        {link("reserve", t.page.reserve)}
        {link("leases", t.page.leases)}
        {link("notices", t.page.notices)}
        {isOperator.value && link("operators", t.page.operators)}
      </nav>
      <span class="spacer" />
      {current.region && <span class="muted">{t.page.region(current.region)}</span>}
      <Projects />
      <Settings />
    </header>
  );
}

function Projects() {
  const current = session.value!;
  const [problem, setProblem] = useState<string | null>(null);
  if (current.projects.length < 2) return <span class="muted">{current.project.name}</span>;
  return (
    <>
      <select
        aria-label={t.page.project}
        value={current.project.id}
        onChange={async (event) => setProblem(await switchProject(event.currentTarget.value))}
      >
        {current.projects.map((each) => (
          <option key={each.id} value={each.id}>
            {each.name}
          </option>
        ))}
      </select>
      {problem && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}

function Settings() {
  const current = session.value!;
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((each) => each !== "UTC")];
  return (
    <details class="settings">
      <summary>{t.page.settings}</summary>
      <div class="panel">
        <label class="field">
          <span>{t.page.theme}</span>
          <select value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
            {(["system", "light", "dark"] as const).map((each) => (
              <option key={each} value={each}>
                {t.page.themes[each]}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>{t.page.zone}</span>
          <select
            value={chosenZone.value ?? ""}
            onChange={(event) => (chosenZone.value = event.currentTarget.value || null)}
          >
            <option value="">{t.page.ownZone(ownZone())}</option>
            {zones.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <p class="muted">{t.page.signedIn(current.user.name)}</p>
        {current.can_sign_out && (
          <button type="button" onClick={() => void signOut()}>
            {t.page.signOut}
          </button>
        )}
      </div>
    </details>
  );
}
