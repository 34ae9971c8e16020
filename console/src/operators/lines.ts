import type { Collection } from "../api/values";

/** A line of a form as key and value pairs, or what is wrong with it. */
export type Line = { readonly values: Record<string, string | number | boolean> } | { readonly mistake: string };

const TERM = /(?:([^\s="]+)=)?("(?:[^"\\]|\\.)*"|[^\s"]+)(?=\s|$)/y;

/** Return a value as JSON has it: numbers and words for true and false are not texts unless they are quoted. */
function valueOf(text: string): string | number | boolean {
  if (text.startsWith('"')) return text.slice(1, -1).replace(/\\(.)/g, "$1");
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  if (text === "true" || text === "false") return text === "true";
  return text;
}

/**
 * Return the pairs of a line such as `node-1 rack=r1 model="A 100"`.
 *
 * A word without a key, which may only be the first one, is the value of *nameKey*.
 */
export function readLine(line: string, nameKey: string | null): Line {
  const values: Record<string, string | number | boolean> = {};
  const clean = line.trim();
  let place = 0;
  while (place < clean.length) {
    TERM.lastIndex = place;
    const match = TERM.exec(clean);
    if (!match) return { mistake: clean.slice(place) };
    const [whole, key, text] = match;
    if (key === undefined && (place > 0 || nameKey === null)) return { mistake: whole };
    const name = key ?? nameKey!;
    if (name in values) return { mistake: whole };
    // A name is a text, also if it looks like a number.
    values[name] = key === undefined && !text!.startsWith('"') ? text! : valueOf(text!);
    place = TERM.lastIndex;
    while (/\s/.test(clean[place] ?? "")) place += 1;
  }
  return { values };
}

/** Return a pair as a line has it. */
export function pairText(key: string, value: unknown): string {
  return `${key}=${valueText(value)}`;
}

function valueText(value: unknown): string {
  const text = String(value);
  return /^[^\s"=]+$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

interface Schema {
  readonly examples?: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly required?: readonly string[];
}

/** Return a line that registers a resource: the first example of the schema, or else the keys that it requires. */
export function exampleLine(collection: Collection): string {
  const schema = collection.create_schema as Schema;
  const nameKey = collection.create_name_key;
  const example = schema.examples?.[0] ?? Object.fromEntries((schema.required ?? []).map((key) => [key, "…"]));
  const pairs = Object.entries(example).filter(([key]) => key !== nameKey);
  const name = nameKey !== null && nameKey in example ? [valueText(example[nameKey])] : [];
  return [...name, ...pairs.map(([key, value]) => pairText(key, value))].join(" ");
}
