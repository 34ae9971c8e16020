import { call } from "../api/http";
import type { Usage } from "../api/values";

/** How reserved time was used, in the order in which a chart stacks it. */
export const KINDS = ["in_use", "idle", "no_show", "lost", "unknown"] as const;
export type Kind = (typeof KINDS)[number];

export type Hours = Usage["groups"][number]["amounts"][number]["hours"];
export type By = Usage["by"];

export async function getUsage(query: Readonly<Record<string, string | undefined>>): Promise<Usage> {
  return (await call<{ usage: Usage }>("usage", { query })).value.usage;
}

/** Return the units of a report, such as hosts, without the amounts of their resource classes. */
export function unitsOf(usage: Usage): string[] {
  const found = usage.groups.flatMap((each) => each.amounts.filter((one) => one.resource_class === null));
  return [...new Set(found.map((each) => each.unit))].toSorted();
}

const NONE: Hours = { reserved: 0, in_use: 0, idle: 0, no_show: 0, lost: 0, unknown: 0 };

function sum(a: Hours, b: Hours): Hours {
  return {
    reserved: a.reserved + b.reserved,
    in_use: a.in_use + b.in_use,
    idle: a.idle + b.idle,
    no_show: a.no_show + b.no_show,
    lost: a.lost + b.lost,
    unknown: a.unknown + b.unknown,
  };
}

function amountsOf(usage: Usage, unit: string) {
  return usage.groups.flatMap((group) =>
    group.amounts
      .filter((each) => each.unit === unit && each.resource_class === null)
      .map((each) => ({ value: group.value, ...each })),
  );
}

/** Return the hours of each step, of all groups together. */
export function stepsOf(usage: Usage, unit: string): Hours[] {
  const amounts = amountsOf(usage, unit);
  return usage.steps.map((_, step) => amounts.map((each) => each.steps?.[step] ?? NONE).reduce(sum, NONE));
}

/** Return the groups with the most reserved hours first. */
export function groupsOf(usage: Usage, unit: string): Array<{ value: Usage["groups"][number]["value"]; hours: Hours }> {
  return amountsOf(usage, unit)
    .map(({ value, hours }) => ({ value, hours }))
    .toSorted((a, b) => b.hours.reserved - a.hours.reserved);
}
