import { TypeSelect } from "../search/TypeSelect";
import { t } from "../messages";
import { type EnteredSubscription, type EventName, eventsOf, tells } from "./request";

interface Props {
  entered: EnteredSubscription;
  onChange: (part: Partial<EnteredSubscription>) => void;
}

/** Which events a subscription tells of: all, or those that are ticked. */
export function Events({ entered, onChange }: Props) {
  const { events } = entered;

  function tick(event: EventName, ticked: boolean) {
    const others = events!.filter((each) => each !== event);
    onChange({ events: ticked ? [...others, event] : others });
  }

  return (
    <fieldset>
      <legend>{t.notices.events}</legend>
      <p class="row">
        <label class="check">
          <input type="radio" name="events" checked={events === null} onChange={() => onChange({ events: null })} />
          {t.notices.allEvents}
        </label>
        <label class="check">
          <input type="radio" name="events" checked={events !== null} onChange={() => onChange({ events: [] })} />
          {t.notices.chosenEvents}
        </label>
      </p>
      {events !== null && (
        <div class="grid">
          {eventsOf(entered.scope).map((each) => (
            <label class="check" key={each}>
              <input
                type="checkbox"
                checked={events.includes(each)}
                onChange={(event) => tick(each, event.currentTarget.checked)}
              />
              {t.notices.event[each]}
            </label>
          ))}
        </div>
      )}
    </fieldset>
  );
}

/** From when on resources are few, and a lease waits too long, for a subscription to the site. */
export function SiteConditions({ entered, onChange }: Props) {
  const field = (key: "below" | "waits", hint: string) => (
    <label class="field">
      <span>{t.notices[key]}</span>
      <input
        inputMode={key === "below" ? "numeric" : "text"}
        value={entered[key]}
        placeholder={hint}
        onInput={(event) => onChange({ [key]: event.currentTarget.value })}
      />
    </label>
  );
  if (entered.scope !== "site") return null;
  return (
    <>
      {tells(entered, "resources.low") && (
        <>
          <TypeSelect
            label={t.notices.resourceType}
            value={entered.resourceType}
            onChange={(resourceType) => onChange({ resourceType })}
          />
          {field("below", "5")}
        </>
      )}
      {tells(entered, "lease.waits") && field("waits", "30 min")}
    </>
  );
}
