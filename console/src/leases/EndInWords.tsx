import { t } from "../messages";
import { typeOf } from "../search/catalogue";
import { defaultOf } from "../search/fields";
import type { Instant } from "../time/instant";
import { When } from "../time/When";

interface Props {
  end: Instant;
  beforeEnd: Instant | null;
  reservations: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

/** What becomes of everything at the end of a lease, in one or two sentences. */
export function EndInWords({ end, beforeEnd, reservations }: Props) {
  const snapshot = reservations.some((each) => each["before_end"] === "snapshot");
  // A request that names no action gets the default of its type.
  const actions = new Set(
    reservations
      .map((each) => each["end_action"] ?? defaultOf(typeOf(String(each["resource_type"])), "end_action"))
      .filter((each) => typeof each === "string"),
  );
  const texts: Readonly<Record<string, string>> = t.leases.atEnd;
  const special = [...actions].flatMap((each) => texts[each as string] ?? []);
  return (
    <span class="end-in-words">
      {t.leases.atEnd.on} <When at={end} />, {t.leases.atEnd.general}
      {special.map((each) => `; ${each}`)}
      {snapshot && (
        <>
          {"; "}
          {beforeEnd !== null && (
            <>
              {t.leases.atEnd.before} <When at={beforeEnd} />,{" "}
            </>
          )}
          {t.leases.atEnd.snapshot}
        </>
      )}
      .
    </span>
  );
}
