import { useState } from "preact/hooks";
import { t } from "../messages";
import { Problem, useAttempts } from "./attempt";
import { Dialog } from "./Dialog";

interface Props {
  label: string;
  title: string;
  text: string;
  /** Called when the user confirms. What it throws is shown in the dialog, which stays open. */
  onConfirm: () => Promise<void>;
  small?: boolean;
}

/** A button for what cannot be undone: it asks first. */
export function ConfirmButton({ label, title, text, onConfirm, small = false }: Props) {
  const [asking, setAsking] = useState(false);
  const { busy, problem, attempt } = useAttempts();

  const confirm = () =>
    attempt(async () => {
      await onConfirm();
      setAsking(false);
    });

  return (
    <>
      <button type="button" class={small ? "small danger" : "danger"} onClick={() => setAsking(true)}>
        {label}
      </button>
      {asking && (
        <Dialog title={title} onClose={() => setAsking(false)}>
          <p>{text}</p>
          <Problem text={problem} />
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
