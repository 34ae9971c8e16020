import { useState } from "preact/hooks";
import { textOf } from "../api/problem";
import type { Collection } from "../api/values";
import { t } from "../messages";
import { announce } from "../page/announce";
import { readCatalogue } from "../search/catalogue";
import { searchAgain } from "../search/store";
import { registerItem } from "./collections";
import { exampleLine, readLine } from "./lines";

interface Failure {
  readonly line: string;
  readonly message: string;
}

/** Registers resources, one a line. Lines that were refused stay in the form with the reason. */
export function Register({ collection, onDone }: { collection: Collection; onDone: () => void }) {
  const [text, setText] = useState("");
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const [busy, setBusy] = useState(false);

  async function submit(event: Event) {
    event.preventDefault();
    setBusy(true);
    const failed: Failure[] = [];
    const lines = text.split("\n").filter((each) => each.trim());
    for (const line of lines) {
      const message = await register(line, collection);
      if (message) failed.push({ line, message });
    }
    setFailures(failed);
    setText(failed.map((each) => each.line).join("\n"));
    setBusy(false);
    if (failed.length < lines.length) {
      announce(t.operators.registered(lines.length - failed.length));
      onDone();
      searchAgain.value += 1;
      await readCatalogue();
    }
  }

  return (
    <form class="inset" onSubmit={submit}>
      <label class="field">
        <span>
          {t.operators.oneALine} <code>{exampleLine(collection)}</code>
        </span>
        <textarea rows={4} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div role="alert">
        {failures.map((each) => (
          <p class="problem" key={each.line}>
            {each.line}: {each.message}
          </p>
        ))}
      </div>
      <p class="actions">
        <button class="primary" disabled={busy || !text.trim()}>
          {t.operators.register}
        </button>
      </p>
    </form>
  );
}

async function register(line: string, collection: Collection): Promise<string | null> {
  const read = readLine(line, collection.create_name_key);
  if ("mistake" in read) return t.operators.badLine(read.mistake);
  try {
    await registerItem(collection, read.values);
    return null;
  } catch (problem) {
    return textOf(problem);
  }
}
