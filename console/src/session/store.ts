import { signal } from "@preact/signals";
import { nextTry, answered } from "../api/connection";
import { messageOf, send } from "../api/http";
import { t } from "../messages";

export interface Named {
  readonly id: string;
  readonly name: string;
}

export interface Session {
  readonly user: Named;
  readonly project: Named;
  readonly roles: readonly string[];
  readonly projects: readonly Named[];
  readonly expires_at: string | null;
  readonly can_sign_out: boolean;
  readonly region: string | null;
}

export type SignInMethod = "password" | "application_credential" | "websso" | "basic";

export interface SignInOffer {
  readonly methods: readonly SignInMethod[];
  readonly websso: readonly Named[];
}

export type Credentials = Readonly<{ method: SignInMethod } & Record<string, string>>;

/** The session; null until it is known, and before the first sign-in. */
export const session = signal<Session | null>(null);
/** How to sign in, while the user has to. */
export const signInOffer = signal<SignInOffer | null>(null);

let waiting: Array<() => void> = [];

/** Read the session, or what the sign-in needs. Waits until the service answers. */
export async function readSession(): Promise<void> {
  for (;;) {
    let sent: Awaited<ReturnType<typeof send>>;
    try {
      sent = await send("session");
    } catch {
      await nextTry(t.errors.noConnection);
      continue;
    }
    const { response, body } = sent;
    if (response.ok) {
      answered();
      accept(body as Session);
      return;
    }
    if (response.status === 401) {
      answered();
      const offer = body as Partial<SignInOffer> | null;
      signInOffer.value = { methods: offer?.methods ?? [], websso: offer?.websso ?? [] };
      return;
    }
    await nextTry(messageOf(body, response.status));
  }
}

function accept(found: Session): void {
  const before = session.value;
  if (before && (before.user.id !== found.user.id || before.project.id !== found.project.id)) {
    // What is on the page belongs to another user or project.
    location.reload();
    return;
  }
  session.value = found;
  signInOffer.value = null;
  const resumed = waiting;
  waiting = [];
  for (const each of resumed) each();
}

/** Show the sign-in over the page; the returned promise ends when the user has signed in. */
export async function askSignIn(): Promise<void> {
  const done = new Promise<void>((resolve) => waiting.push(resolve));
  if (!signInOffer.value && waiting.length === 1) void readSession();
  return done;
}

/** Sign in; return the message of a refusal, or null. */
export async function signIn(credentials: Credentials): Promise<string | null> {
  try {
    const { response, body } = await send("session", { method: "POST", body: credentials });
    if (!response.ok) return messageOf(body, response.status);
    accept(body as Session);
    return null;
  } catch {
    return t.errors.noConnection;
  }
}

/** Work in another project; return the message of a refusal, or null. The page starts again. */
export async function switchProject(id: string): Promise<string | null> {
  try {
    const { response, body } = await send("session", { method: "PUT", body: { project_id: id } });
    if (!response.ok) return messageOf(body, response.status);
  } catch {
    return t.errors.noConnection;
  }
  location.reload();
  return null;
}

export async function signOut(): Promise<void> {
  try {
    await send("session", { method: "DELETE" });
  } catch {
    // The page starts again, and shows whether it is signed out.
  }
  location.reload();
}
