import { useState } from "preact/hooks";
import { textOf } from "../api/problem";
import type { Collection } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { ConfirmButton } from "../page/ConfirmButton";
import { Dialog } from "../page/Dialog";
import { type Item, changeItem, removeItem } from "./collections";
import { reasonOf } from "./columns";
import { pairText, readLine } from "./lines";

interface Props {
  collection: Collection;
  item: Item;
  name: string;
  columns: readonly string[];
  leases: readonly string[];
  onChange: () => void;
}

/** A registered resource, whose properties can be changed, and which can be removed. */
export function ResourceRow({ collection, item, name, columns, leases, onChange }: Props) {
  const [editing, setEditing] = useState(false);
  const healthy = item["reservable"] !== false;

  async function remove() {
    await removeItem(collection, item.id);
    announce(t.operators.removed(name));
    onChange();
  }

  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <span class={`state ${healthy ? "good" : "bad"}`}>
          <span class="dot" aria-hidden="true" />
          <span>
            {healthy ? t.operators.healthy : t.operators.failed}
            {!healthy && reasonOf(item) && <span class="reason">: {reasonOf(item)}</span>}
          </span>
        </span>
      </td>
      {columns.map((each) => (
        <td key={each}>{item[each] === null || item[each] === undefined ? "" : String(item[each])}</td>
      ))}
      <td>
        {leases.map((each) => (
          <a key={each} href={`#operators/leases/${each}`}>
            {each.slice(0, 8)}
          </a>
        ))}
      </td>
      <td class="number nowrap">
        {collection.update_schema && (
          <button type="button" class="small" onClick={() => setEditing(true)}>
            {t.operators.properties}
          </button>
        )}{" "}
        <ConfirmButton
          small
          label={t.operators.remove}
          title={t.operators.removeTitle(name)}
          text={t.operators.removeText}
          onConfirm={remove}
        />
        {editing && (
          <Properties collection={collection} item={item} name={name} onClose={() => setEditing(false)} onChange={onChange} />
        )}
      </td>
    </tr>
  );
}

interface DialogProps {
  collection: Collection;
  item: Item;
  name: string;
  onClose: () => void;
  onChange: () => void;
}

/** Sets and removes properties, written as in a registration. */
function Properties({ collection, item, name, onClose, onChange }: DialogProps) {
  const [text, setText] = useState("");
  const [removed, setRemoved] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  async function save(event: Event) {
    event.preventDefault();
    const line = readLine(text, null);
    if ("mistake" in line) return setProblem(t.operators.badLine(line.mistake));
    const gone = removed.split(/[\s,]+/).filter(Boolean);
    const body = { ...line.values, ...Object.fromEntries(gone.map((each) => [each, null])) };
    try {
      await changeItem(collection, item.id, body);
      announce(t.operators.changed(name));
      onClose();
      onChange();
    } catch (found) {
      setProblem(textOf(found));
    }
  }
  const simple = Object.entries(item).filter(([, value]) => value !== null && typeof value !== "object");
  return (
    <Dialog title={name} onClose={onClose}>
      <form onSubmit={save} class="left">
        <label class="field">
          <span>{t.operators.set}</span>
          <input value={text} placeholder="rack=r1 gpu=a100" onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>{t.operators.unset}</span>
          <input value={removed} placeholder="gpu" onInput={(event) => setRemoved(event.currentTarget.value)} />
        </label>
        {problem && <p class="problem" role="alert">{problem}</p>}
        <p class="actions">
          <button class="primary" disabled={!text.trim() && !removed.trim()}>
            {t.leases.save}
          </button>
          <button type="button" onClick={onClose}>
            {t.cancel}
          </button>
        </p>
        <p class="muted">
          {simple.map(([key, value]) => (
            <code key={key}>{pairText(key, value)} </code>
          ))}
        </p>
      </form>
    </Dialog>
  );
}
