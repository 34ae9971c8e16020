import { signal } from "@preact/signals";
import { getCatalogue } from "../api/lessees";
import { textOf } from "../api/problem";
import type { Catalogue, Property, ResourceType, Value } from "../api/values";

/** What the installation offers; null until it is known. */
export const catalogue = signal<Catalogue | null>(null);
export const catalogueProblem = signal<string | null>(null);

/** Whether the objects that a request can name are needed. */
export const choicesNeeded = signal(false);

export async function readCatalogue(): Promise<void> {
  try {
    catalogue.value = await getCatalogue(choicesNeeded.value);
    catalogueProblem.value = null;
  } catch (problem) {
    // What is known stays usable.
    if (!catalogue.value) catalogueProblem.value = textOf(problem);
  }
}

const READ_EVERY = 120_000;

/** Read the catalogue now and again, since resources, quotas and rules change. */
export async function pollCatalogue(): Promise<never> {
  for (;;) {
    if (!document.hidden) await readCatalogue();
    await new Promise((resolve) => setTimeout(resolve, READ_EVERY));
  }
}

/** Return the number of items to ask a list for: as many as wanted, if the site's pages are that long. */
export function pageSize(wanted: number): string | undefined {
  const longest = catalogue.value?.longest_page;
  // Without a limit, the service returns its longest page.
  return longest === undefined ? undefined : String(Math.min(wanted, longest));
}

export function typeOf(name: string): ResourceType | undefined {
  return catalogue.value?.resource_types.find((each) => each.resource_type === name);
}

/** Return the name of a unit of a type; with the type where several types have the same unit. */
export function unitName(type: ResourceType): string {
  const name = type.unit.replaceAll("_", " ");
  const sharing = catalogue.value?.resource_types.filter((each) => each.unit === type.unit).length ?? 1;
  return sharing > 1 ? `${name} (${type.resource_type})` : name;
}

/** Return the name of a unit of a type that may be unknown by now. */
export function unitOf(resourceType: string): string {
  const type = typeOf(resourceType);
  return type ? type.unit.replaceAll("_", " ") : resourceType;
}

/** Return the properties of a type by which lessees choose and group, those of operators first. */
export function propertiesOf(resourceType: string): Property[] {
  const found = (catalogue.value?.properties ?? []).filter(
    (each) => each.resource_types.includes(resourceType) && each.values.length > 0,
  );
  return [...found.filter((each) => !each.built_in), ...found.filter((each) => each.built_in)];
}

/** Return the properties that tell resources of a type apart: set by operators, or with several values. */
export function tellingProperties(resourceType: string): Property[] {
  return propertiesOf(resourceType).filter((each) => !each.built_in || each.values.length > 1);
}

/** Return a condition in the short form of requirements. */
export function condition(property: string, value: Value): string {
  const text = String(value);
  const quoted = /[,|"=<>!]|^\s|\s$|\.\.|^$|(^|\s)(and|or)(\s|$)/i.test(text)
    ? `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`
    : text;
  return value === null ? `!${property}` : `${property}=${quoted}`;
}
