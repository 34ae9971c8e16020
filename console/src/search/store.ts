import { computed, effect, signal, untracked } from "@preact/signals";
import { previewLease, searchSlots } from "../api/lessees";
import { Refused, type Refusal, textOf } from "../api/problem";
import type { TimeSlots } from "../api/values";
import { t } from "../messages";
import { zone } from "../page/preferences";
import { minute } from "../time/clock";
import { floorToMinute, MINUTE, toApi } from "../time/instant";
import { catalogue, choicesNeeded, propertiesOf, readCatalogue, typeOf } from "./catalogue";
import { needsChoices } from "./fields";
import { type Understood, type Wish, countedReservation, isUnderstood, searchBody, understand } from "./wish";

export const wish = signal<Wish>({
  resourceType: "",
  property: null,
  count: "1",
  duration: "4 h",
  earliest: "now",
  latest: "in 7 days",
  placement: "",
  fewer: true,
  requirement: "",
  own: {},
});

export function change(part: Partial<Wish>): void {
  wish.value = { ...wish.value, ...part };
}

/** Choose the type with the most resources at first, and another one if the chosen type has disappeared. */
export function startWish(): void {
  effect(() => {
    const types = catalogue.value?.resource_types ?? [];
    if (typeOf(wish.value.resourceType) || types.length === 0) return;
    const simple = types.filter((each) => each.unit_keys.length === 0);
    const ranked = (simple.length ? simple : types).toSorted((a, b) => b.reservable - a.reservable);
    change({ resourceType: ranked[0]!.resource_type, property: null, own: {}, placement: "" });
  });
}

/** Read the objects of the cloud that requests can name when a type is chosen for which ids are needed. */
export function startChoices(): void {
  const needing = computed(() => {
    const type = typeOf(wish.value.resourceType);
    return type && needsChoices(type, propertiesOf(type.resource_type)) ? type.resource_type : null;
  });
  effect(() => {
    choicesNeeded.value = needing.value !== null;
    if (needing.value !== null) void untracked(readCatalogue);
  });
}

function weekdays(): string[] {
  const names = new Intl.DateTimeFormat(t.locale, { weekday: "long", timeZone: "UTC" });
  // 4 January 1970 was a Sunday.
  return Array.from({ length: 7 }, (_, day) => names.format(Date.UTC(1970, 0, 4 + day)));
}

/** What the wish means now, or its mistakes; null without a type. */
export const understood = computed(() => {
  const type = typeOf(wish.value.resourceType);
  if (!type) return null;
  return understand(wish.value, {
    type,
    properties: propertiesOf(type.resource_type),
    now: minute.value,
    zone: zone(),
    weekdays: weekdays(),
    texts: t.search,
  });
});

export type Result =
  | { readonly kind: "found"; readonly entered: Wish; readonly wish: Understood; readonly slots: TimeSlots }
  | { readonly kind: "refused"; readonly entered: Wish; readonly message: string; readonly refusal: Refusal | null };

export const result = signal<Result | null>(null);
export const searching = signal(false);

/** Whether the times shown belong to an earlier wish; to choose one would reserve what is no longer wanted. */
export const isOutdated = computed(() => {
  const shown = result.value;
  return shown?.kind === "found" && shown.entered !== wish.value;
});

/** Whether an answer to the wish is still to come. None comes to a wish with mistakes. */
export const isBusy = computed(() => {
  const asked = understood.value;
  return asked !== null && isUnderstood(asked) && (searching.value || result.value?.entered !== wish.value);
});

const LIMIT = 6;
const TYPING_PAUSE = 300;

let running: AbortController | null = null;

function refusedBy(problem: unknown, entered: Wish): Result {
  const refusal = problem instanceof Refused ? problem.refusal : null;
  return { kind: "refused", entered, message: textOf(problem), refusal };
}

/** If no time was found, ask what else is possible: the refusal of a lease at the earliest start says it. */
async function findAlternatives(entered: Wish, asked: Understood, signal: AbortSignal): Promise<void> {
  const type = typeOf(asked.reservation.resource_type);
  if (!type) return;
  const start = asked.startsNow ? "now" : toApi(asked.earliest);
  const end_date = toApi(floorToMinute(asked.earliest) + asked.minutes * MINUTE);
  const reservations = [countedReservation(asked, type)];
  try {
    await previewLease({ name: "-", start_date: start, end_date, reservations }, signal);
  } catch (problem) {
    if (signal.aborted) return;
    result.value = refusedBy(problem, entered);
  }
}

async function run(entered: Wish, asked: Understood): Promise<void> {
  running?.abort();
  const own = (running = new AbortController());
  searching.value = true;
  try {
    const slots = await searchSlots(searchBody(asked, entered.fewer, LIMIT), own.signal);
    result.value = { kind: "found", entered, wish: asked, slots };
    if (slots.slots.length === 0) await findAlternatives(entered, asked, own.signal);
  } catch (problem) {
    if (own.signal.aborted) return;
    result.value = refusedBy(problem, entered);
  } finally {
    if (running === own) searching.value = false;
  }
}

/** Increased by whatever changes what is free, so that the search is repeated. */
export const searchAgain = signal(0);

/** Search while the user types, and again each minute, after a short pause. */
export function startSearch(): void {
  effect(() => {
    const asked = understood.value;
    const entered = wish.value;
    void searchAgain.value;
    if (!asked || !isUnderstood(asked)) {
      running?.abort();
      searching.value = false;
      return undefined;
    }
    const timer = setTimeout(() => void run(entered, asked), TYPING_PAUSE);
    return () => clearTimeout(timer);
  });
}
