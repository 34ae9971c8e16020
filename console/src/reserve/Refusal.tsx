import type { Refusal as RefusalBody } from "../api/problem";
import type { Alternative, Reason } from "../api/values";
import { t } from "../messages";
import { fromApi } from "../time/instant";
import { Sentence, When } from "../time/When";

interface Props {
  message: string | null;
  refusal: Pick<RefusalBody, "reasons" | "alternatives"> | null;
  onTake?: (alternative: Alternative) => void;
}

/** Why a request is refused, in one sentence, and what can be taken instead with one click. */
export function Refusal({ message, refusal, onTake }: Props) {
  const binding = (refusal?.reasons ?? []).filter((each) => each.binding !== null);
  const sentences = binding.length ? binding.map((each) => each.summary) : message ? [message] : [];
  const alternatives = refusal?.alternatives ?? [];
  return (
    <div class="refusal">
      <div role="alert">
        {sentences.map((each) => (
          <p key={each}>
            <Sentence text={each} />
          </p>
        ))}
      </div>
      {binding.flatMap((each) => each.rules ?? []).map((rule) => (
        <p key={rule.rule + rule.code}>
          <Sentence text={rule.summary} />
          {rule.possible_from && (
            <>
              {". "}
              {t.refusal.possibleFrom} <When at={fromApi(rule.possible_from)} />.
            </>
          )}
        </p>
      ))}
      {onTake && refusal && <Alternatives alternatives={alternatives} onTake={onTake} />}
      {binding.map((each, number) => (
        <Funnel key={number} reason={each} />
      ))}
    </div>
  );
}

function Alternatives({
  alternatives,
  onTake,
}: {
  alternatives: readonly Alternative[];
  onTake: (alternative: Alternative) => void;
}) {
  if (alternatives.length === 0) return <p class="muted">{t.refusal.noAlternatives}</p>;
  return (
    <>
      <p class="heading">{t.refusal.alternatives}</p>
      <ul class="alternatives">
        {alternatives.map((each) => (
          <li key={each.kind + each.summary}>
            <button type="button" onClick={() => onTake(each)}>
              <strong>{t.refusal.kinds[each.kind] ?? each.kind}</strong> <Sentence text={each.summary} />
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function Funnel({ reason }: { reason: Reason }) {
  return (
    <details>
      <summary>{t.refusal.why}</summary>
      <table class="funnel">
        <thead>
          <tr>
            <th scope="col">{t.refusal.stage}</th>
            <th scope="col" class="number">
              {t.refusal.left}
            </th>
          </tr>
        </thead>
        <tbody>
          {reason.steps.map((step, number) => (
            <tr key={number} class={step.stage === reason.binding ? "binding" : undefined}>
              <td>
                {t.refusal.stages[step.stage] ?? step.stage} {step.condition ?? ""}
              </td>
              <td class="number">{step.left ?? ""}</td>
            </tr>
          ))}
          <tr>
            <td>{t.refusal.needed}</td>
            <td class="number">{reason.needed}</td>
          </tr>
        </tbody>
      </table>
    </details>
  );
}
