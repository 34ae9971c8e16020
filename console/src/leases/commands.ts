/** A command of the OpenStack client, or a value to copy, for a key of `use`. */
export interface UseCommand {
  readonly key: string;
  readonly text: string;
}

type Use = Readonly<Record<string, unknown>>;

function quoted(value: unknown): string {
  const text = String(value);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
}

function hintsOf(use: Use): string {
  const hints = Object.entries((use["scheduler_hints"] ?? {}) as Record<string, unknown>);
  return hints.map(([key, value]) => `--hint ${quoted(key)}=${quoted(value)} `).join("");
}

const MAKERS: Readonly<Record<string, (use: Use) => string[]>> = {
  scheduler_hints: (use) =>
    use["flavor_id"] === undefined && hintsOf(use)
      ? [`openstack server create ${hintsOf(use)}--flavor FLAVOR --image IMAGE --network NETWORK NAME`]
      : [],
  flavor_id: (use) => [
    `openstack server create --flavor ${quoted(use["flavor_id"])} ${hintsOf(use)}--image IMAGE --network NETWORK NAME`,
  ],
  floating_ip_tags: (use) => [
    `openstack floating ip list --tags ${quoted(list(use["floating_ip_tags"]).join(","))}`,
  ],
  network_ids: (use) =>
    list(use["network_ids"]).map(
      (each) => `openstack subnet create --network ${quoted(each)} --subnet-range 10.0.0.0/24 NAME`,
    ),
  network_tags: (use) => [`openstack network list --tags ${quoted(list(use["network_tags"]).join(","))}`],
  volume_types: (use) =>
    list(use["volume_types"]).map((each) => `openstack volume create --type ${quoted(each)} --size SIZE NAME`),
};

/** Return how to use what a reservation holds; keys that the page does not know are shown as they are. */
export function commandsOf(use: Use): UseCommand[] {
  return Object.entries(use).flatMap(([key, value]) => {
    const texts = MAKERS[key]?.(use) ?? list(value).map((each) => (typeof each === "object" ? JSON.stringify(each) : String(each)));
    return texts.map((text) => ({ key, text }));
  });
}
