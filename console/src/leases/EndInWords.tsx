import { Sentence, When } from "../time/When";
import { type AtEnd, endsOf } from "./words";

/** What happens at the end of a lease, in the words of its resource types. */
export function EndInWords({ reservations }: { reservations: ReadonlyArray<{ readonly at_end?: AtEnd }> }) {
  return (
    <>
      {endsOf(reservations).map(({ at, texts }) => (
        <div class="end-in-words" key={at}>
          <When at={at} />: <Sentence text={texts.join(" ")} />
        </div>
      ))}
    </>
  );
}
