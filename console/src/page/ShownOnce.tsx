import { CopyButton } from "./CopyButton";

/** A value that the service shows only once, to copy. */
export function ShownOnce({ label, value, hint }: { label: string; value: string; hint: string }) {
  return (
    <div class="inset" role="status">
      <p class="heading">{label}</p>
      <div class="command">
        <code>{value}</code>
        <CopyButton text={value} label={label} />
      </div>
      <p class="muted">{hint}</p>
    </div>
  );
}
