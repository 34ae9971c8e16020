import type { Lease } from "../api/values";
import { t } from "../messages";
import { now } from "../time/clock";
import { durationText } from "../time/format";
import { Countdown, Sentence } from "../time/When";
import { nextOf, reasonsOf, retryOf, toneOf } from "./words";

/** The state of a lease in words, with its reason and the next try. */
export function State({ lease }: { lease: Lease }) {
  const retry = retryOf(lease);
  return (
    <span class={`state ${toneOf(lease)}`}>
      <span class="dot" aria-hidden="true" />
      <span>
        {t.leases.states[lease.status] ?? lease.status}
        {lease.degraded && ` – ${t.leases.degraded}`}
        {reasonsOf(lease).map((each) => (
          <span class="reason" key={each}>
            : <Sentence text={each} />
          </span>
        ))}
        {retry !== null && (
          <span class="reason">
            ; {retry > now.value ? `${t.leases.nextTry} ${durationText(retry - now.value)}` : t.leases.nextTryNow}
          </span>
        )}
      </span>
    </span>
  );
}

/** The time until the lease starts or ends. */
export function LeaseCountdown({ lease }: { lease: Lease }) {
  const next = nextOf(lease);
  if (!next) return null;
  const due = next.at <= now.value;
  if (next.kind === "start") return due ? <>{t.leases.startDue}</> : <>{t.leases.startsIn} <Countdown to={next.at} /></>;
  return due ? <>{t.leases.endDue}</> : <>{t.leases.endsIn} <Countdown to={next.at} /></>;
}
