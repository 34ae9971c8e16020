import { effect } from "@preact/signals";
import { render } from "preact";
import { onSessionEnd } from "./api/http";
import { startCalendar } from "./chart/store";
import { pollLeases } from "./leases/store";
import { releaseOnLeave } from "./reserve/draft";
import { loadMessages, t } from "./messages";
import { readAccess } from "./operators/access";
import { App } from "./page/App";
import { startPlace } from "./page/place";
import { startPreferences } from "./page/preferences";
import { pollCatalogue } from "./search/catalogue";
import { startChoices, startSearch, startWish } from "./search/store";
import { askSignIn, readSession, session } from "./session/store";
import "./style/page.css";
import { startClock } from "./time/clock";

async function start(): Promise<void> {
  await loadMessages(navigator.languages);
  document.title = t.title;
  startPreferences();
  startPlace();
  startClock();
  releaseOnLeave();
  onSessionEnd(askSignIn);
  const root = document.getElementById("console")!;
  render(<App />, root);
  let begun = false;
  effect(() => {
    if (!session.value || begun) return;
    begun = true;
    startWish();
    startChoices();
    startSearch();
    startCalendar();
    void pollCatalogue();
    void readAccess();
    void pollLeases();
  });
  await readSession();
}

void start();
