import type { MaintenancePlan } from "../api/values";
import { t } from "../messages";
import { fromApi } from "../time/instant";
import { Period } from "../time/When";

type Named = ReadonlyArray<{ readonly name: string }>;

const names = (resources: Named): string => resources.map((each) => each.name).join(", ");

/** Which leases a maintenance concerns: those that move, those that stay, and those for which nothing else is free. */
export function Plan({ plan }: { plan: MaintenancePlan }) {
  const moves = plan.moves.map((each) => ({ ...each, text: `${names(each.from)} → ${names(each.to)}` }));
  const active = plan.active.map((each) => ({ ...each, text: each.resource.name }));
  const unmovable = plan.unmovable.map((each) => ({ ...each, text: each.resource.name }));
  if (!moves.length && !active.length && !unmovable.length) return <p>{t.operators.noneAffected}</p>;
  return (
    <>
      <Part title={t.operators.moves} leases={moves} />
      <Part title={t.operators.keep} leases={active} />
      <Part title={t.operators.unmovable} leases={unmovable} />
    </>
  );
}

interface Affected {
  readonly lease_id: string;
  readonly lease_name: string;
  readonly project_id: string | null;
  readonly start_date: string;
  readonly end_date: string;
  readonly text: string;
}

function Part({ title, leases }: { title: string; leases: readonly Affected[] }) {
  if (leases.length === 0) return null;
  return (
    <table>
      <caption>
        {title} ({leases.length})
      </caption>
      <tbody>
        {leases.map((each) => (
          <tr key={each.lease_id + each.text}>
            <th scope="row">
              <a href={`#operators/leases/${each.lease_id}`}>{each.lease_name || each.lease_id.slice(0, 8)}</a>
            </th>
            <td class="id">{each.project_id}</td>
            <td>
              <Period start={fromApi(each.start_date)} end={fromApi(each.end_date)} />
            </td>
            <td>{each.text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
