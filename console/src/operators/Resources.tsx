import { useEffect, useState } from "preact/hooks";
import { textOf } from "../api/problem";
import type { Collection } from "../api/values";
import { t } from "../messages";
import { catalogue, catalogueProblem } from "../search/catalogue";
import { now } from "../time/clock";
import { type Item, listHolders, listItems } from "./collections";
import { columnsOf, nameOf } from "./columns";
import { Register } from "./Register";
import { ResourceRow } from "./ResourceRow";

const STEP = 100;

/** The registered resources of all collections of the catalogue, with their health and who holds them. */
export function Resources() {
  if (catalogueProblem.value) return <p class="problem">{catalogueProblem.value}</p>;
  if (!catalogue.value) return <p class="muted">{t.loading}</p>;
  return (
    <>
      {catalogue.value.collections.map((each) => (
        <OfCollection key={each.path} collection={each} />
      ))}
    </>
  );
}

function OfCollection({ collection }: { collection: Collection }) {
  const [items, setItems] = useState<readonly Item[] | null>(null);
  const [holders, setHolders] = useState<ReadonlyMap<string, string[]>>(new Map());
  const [served, setServed] = useState(true);
  const [problem, setProblem] = useState<string | null>(null);
  const [version, setVersion] = useState(0);
  const [registering, setRegistering] = useState(false);
  const again = () => setVersion(version + 1);

  useEffect(() => {
    const fail = (found: unknown) => setProblem(textOf(found));
    listItems(collection).then((found) => {
      setServed(found !== null);
      setItems(found);
      if (found) listHolders(collection, now.value).then(setHolders, fail);
    }, fail);
  }, [version]);

  if (!served) return null;
  return (
    <section class="panel" aria-label={collection.path}>
      <header class="row">
        <h2>
          {collection.list_key.replaceAll("_", " ")} {items && `(${items.length})`}
        </h2>
        <button type="button" aria-expanded={registering} onClick={() => setRegistering(!registering)}>
          {t.operators.register}
        </button>
      </header>
      {problem && <p class="problem">{problem}</p>}
      {registering && <Register collection={collection} onDone={again} />}
      {items === null ? (
        <p class="muted">{t.loading}</p>
      ) : (
        <Table collection={collection} items={items} holders={holders} onChange={again} />
      )}
    </section>
  );
}

interface TableProps {
  collection: Collection;
  items: readonly Item[];
  holders: ReadonlyMap<string, string[]>;
  onChange: () => void;
}

function Table({ collection, items, holders, onChange }: TableProps) {
  const [search, setSearch] = useState("");
  const [onlyFailed, setOnlyFailed] = useState(false);
  const [most, setMost] = useState(STEP);
  if (items.length === 0) return <p class="muted">{t.operators.noResources}</p>;
  const columns = columnsOf(items, collection.name_key);
  const wanted = search.trim().toLowerCase();
  const found = items.filter(
    (each) =>
      (!onlyFailed || each["reservable"] === false) &&
      (!wanted || Object.values(each).some((value) => String(value).toLowerCase().includes(wanted))),
  );
  return (
    <>
      <p class="row">
        <input
          type="search"
          aria-label={t.operators.search}
          placeholder={t.operators.search}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={onlyFailed}
            onChange={(event) => setOnlyFailed(event.currentTarget.checked)}
          />
          {t.operators.onlyFailed}
        </label>
      </p>
      <div class="scroll" tabIndex={0} role="group" aria-label={collection.path}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.operators.name}</th>
              <th scope="col">{t.operators.health}</th>
              {columns.map((each) => (
                <th scope="col" key={each}>
                  {each}
                </th>
              ))}
              <th scope="col">{t.operators.holder}</th>
              <th scope="col">
                <span class="hidden">{t.operators.actions}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, most).map((each) => (
              <ResourceRow
                key={each.id}
                collection={collection}
                item={each}
                name={nameOf(each, collection.name_key)}
                columns={columns}
                leases={holders.get(each.id) ?? []}
                onChange={onChange}
              />
            ))}
          </tbody>
        </table>
      </div>
      {found.length > most && (
        <button type="button" onClick={() => setMost(most + STEP)}>
          {t.leases.more}
        </button>
      )}
    </>
  );
}
