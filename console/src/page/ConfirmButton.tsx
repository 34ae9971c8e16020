import { useState } from "preact/hooks";
import { textOf } from "../api/problem";
import { t } from "../messages";
import { Dialog } from "./Dialog";

interface Props {
  label: string;
  title: string;
  text: string;
  /** Called when the user confirms. What it throws is shown in the dialog, which stays open. */
  onConfirm: () => Promise<void>;
}

/** A button for what cannot be undone: it asks first. */
export function ConfirmButton({ label, title, text, onConfirm }: Props) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function confirm() {
    setBusy(true);
    setProblem(null);
    try {
      await onConfirm();
      setAsking(false);
    } catch (reason) {
      setProblem(textOf(reason));
    }
    setBusy(false);
  }

  return (
    <>
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        {label}
      </button>
      {asking && (
        <Dialog title={title} onClose={() => setAsking(false)}>
          <p>{text}</p>
          {problem && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          <p class="actions">
            <button type="button" class="primary danger" disabled={busy} onClick={() => void confirm()}>
              {label}
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              {t.cancel}
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}
