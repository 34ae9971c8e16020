import type { TargetedInputEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../messages";
import { type Credentials, type SignInMethod, readSession, session, signIn, signInOffer } from "./store";

const FIELDS: Readonly<Record<SignInMethod, readonly string[]>> = {
  password: ["user", "password", "domain", "project"],
  application_credential: ["id", "secret"],
  basic: ["user", "password"],
  websso: [],
};
const SECRET = new Set(["password", "secret"]);
const ASK_EVERY = 3000;
const OPTIONAL = new Set(["project"]);

/** The sign-in, over the page, whenever the service asks for it. */
export function SignIn() {
  const offer = signInOffer.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (offer && dialog.current && !dialog.current.open) dialog.current.showModal();
  }, [offer]);
  const asks = offer !== null && session.value !== null && offer.websso.length > 0;
  useEffect(() => {
    if (!asks) return undefined;
    const timer = setInterval(() => void readSession(), ASK_EVERY);
    return () => clearInterval(timer);
  }, [asks]);
  if (!offer) return null;
  return (
    <dialog ref={dialog} class="sign-in" aria-labelledby="sign-in-title" onCancel={(event) => event.preventDefault()}>
      <h2 id="sign-in-title">{t.signIn.title}</h2>
      {session.value && <p>{t.signIn.again}</p>}
      <Form methods={offer.methods.filter((each) => each !== "websso")} />
      {offer.websso.map((each) => (
        <p key={each.id}>
          <a
            class="button"
            href={`session/websso?idp=${encodeURIComponent(each.id)}`}
            // In another tab if there is something to continue here; the session is then found by asking.
            target={session.value ? "_blank" : undefined}
            rel="noopener"
          >
            {t.signIn.with(each.name)}
          </a>
        </p>
      ))}
      {offer.methods.length === 0 && <p class="problem">{t.signIn.noMethods}</p>}
    </dialog>
  );
}

function Form({ methods }: { methods: readonly SignInMethod[] }) {
  const [method, setMethod] = useState<SignInMethod | undefined>(methods[0]);
  const [values, setValues] = useState<Record<string, string>>({ domain: "Default" });
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  if (!method) return null;

  async function submit(event: Event) {
    event.preventDefault();
    setBusy(true);
    const entered = FIELDS[method!].map((name) => [name, values[name] ?? ""] as const);
    const given = Object.fromEntries(entered.filter(([name, value]) => value || !OPTIONAL.has(name)));
    setProblem(await signIn({ ...given, method: method! } as Credentials));
    setBusy(false);
  }

  return (
    <form onSubmit={submit}>
      {methods.length > 1 && (
        <label class="field">
          <span>{t.signIn.method}</span>
          <select value={method} onChange={(event) => setMethod(event.currentTarget.value as SignInMethod)}>
            {methods.map((each) => (
              <option key={each} value={each}>
                {t.signIn.methods[each]}
              </option>
            ))}
          </select>
        </label>
      )}
      {FIELDS[method].map((name) => (
        <label class="field" key={`${method} ${name}`}>
          <span>{t.signIn[name as "user"]}</span>
          <Entry
            name={name}
            value={values[name] ?? ""}
            onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <button class="primary" disabled={busy}>
        {t.signIn.submit}
      </button>
    </form>
  );
}

interface EntryProps {
  name: string;
  value: string;
  onInput: (event: TargetedInputEvent<HTMLInputElement>) => void;
}

function Entry({ name, value, onInput }: EntryProps) {
  const common = { name, value, onInput, required: !OPTIONAL.has(name) };
  if (SECRET.has(name)) return <input type="password" autocomplete="current-password" {...common} />;
  return <input autocomplete={name === "user" ? "username" : "off"} {...common} />;
}
