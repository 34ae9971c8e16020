import { retryNow, trouble } from "../api/connection";
import { t } from "../messages";
import { now } from "../time/clock";
import { announcement } from "./announce";

/** Says that the service does not answer and when the page tries again; and what was done last. */
export function Banner() {
  const current = trouble.value;
  return (
    <>
      <div role="status" class="announcement">
        {announcement.value && <p>{announcement.value.text}</p>}
      </div>
      <div role="alert">
        {current && (
          <p class="banner">
            <span>
              {current.reason} {t.errors.retryIn(Math.ceil((current.nextTry - now.value) / 1000))} {t.errors.kept}
            </span>
            <button type="button" onClick={retryNow}>
              {t.errors.retryNow}
            </button>
          </p>
        )}
      </div>
    </>
  );
}
