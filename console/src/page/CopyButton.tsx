import { useState } from "preact/hooks";
import { t } from "../messages";

/** Copies a text. Without access to the clipboard, it selects the text, so that the user can copy it. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  async function copy(event: MouseEvent) {
    const code = (event.currentTarget as HTMLElement).parentElement?.querySelector("code");
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      if (code) window.getSelection()?.selectAllChildren(code);
    }
  }
  return (
    <button type="button" class="small" aria-label={`${t.copy}: ${label}`} onClick={copy}>
      <span aria-live="polite">{copied ? t.copied : t.copy}</span>
    </button>
  );
}
