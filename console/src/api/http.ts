import { t } from "../messages";
import { answered, nextTry } from "./connection";
import { Refused, Unanswered } from "./problem";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Call {
  readonly method?: Method;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Whether it may be sent again if no answer arrives; by default only what changes nothing. */
  readonly repeatable?: boolean;
  /** Whether it is still sent when the page is left. */
  readonly outlives?: boolean;
}

export interface Answer<T> {
  readonly status: number;
  readonly value: T;
  readonly etag: string | null;
}

let signInAgain: () => Promise<void> = () => Promise.reject(new Error("no sign-in"));

/** Set what a request waits for if the session has ended. */
export function onSessionEnd(ask: () => Promise<void>): void {
  signInAgain = ask;
}

const MOST_SIGN_INS = 3;

function urlOf(path: string, query: Call["query"]): URL {
  const url = new URL(path, document.baseURI);
  url.hash = "";
  for (const [key, value] of Object.entries(query ?? {})) if (value !== undefined) url.searchParams.set(key, value);
  return url;
}

function requestOf({ method = "GET", body, headers, signal, outlives = false }: Call): RequestInit {
  return {
    method,
    credentials: "same-origin",
    keepalive: outlives,
    cache: "no-store",
    headers: {
      Accept: "application/json",
      "OpenStack-API-Version": "reservation 1.1",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(method === "GET" ? {} : { "X-Requested-With": "blazar-console" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  };
}

/** Return the answer to one request, whatever its status. */
export async function send(path: string, call: Call = {}): Promise<{ response: Response; body: unknown }> {
  const response = await fetch(urlOf(path, call.query), requestOf(call));
  const text = await response.text();
  let body: unknown = null;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    body = null;
  }
  return { response, body };
}

/** Return the message of an error of the service. */
export function messageOf(body: unknown, status: number): string {
  const message = (body as { error_message?: unknown } | null)?.error_message;
  return typeof message === "string" && message ? message : t.errors.status(status);
}

/**
 * Return the answer of the API to a request.
 *
 * Without a connection, or while the service is unavailable, a request that may be repeated is sent again until it
 * is answered. If the session has ended, the user signs in first, and then the request is sent again.
 *
 * Throws `Refused` for an error of the service, and `Unanswered` if no answer arrived and it may not be repeated.
 */
export async function call<T>(path: string, options: Call = {}): Promise<Answer<T>> {
  const repeatable = options.repeatable ?? (options.method ?? "GET") === "GET";
  let signIns = 0;
  for (;;) {
    const sent = await attempt(`api/v1/${path}`, options);
    if ("failed" in sent) {
      if (!repeatable) throw new Unanswered(t.errors.unanswered);
      await nextTry(sent.failed, options.signal);
      continue;
    }
    const { response, body } = sent;
    // A session that the API does not accept in spite of signing in is no reason to ask for ever.
    if (response.status === 401 && signIns < MOST_SIGN_INS) {
      signIns += 1;
      await signInAgain();
      continue;
    }
    if (response.status >= 502 && response.status <= 504 && repeatable) {
      await nextTry(messageOf(body, response.status), options.signal);
      continue;
    }
    answered();
    if (!response.ok && response.status !== 304) {
      throw new Refused(response.status, messageOf(body, response.status), body);
    }
    return { status: response.status, value: body as T, etag: response.headers.get("ETag") };
  }
}

async function attempt(
  path: string,
  options: Call,
): Promise<{ response: Response; body: unknown } | { failed: string }> {
  try {
    return await send(path, options);
  } catch (problem) {
    if (options.signal?.aborted) throw problem;
    return { failed: t.errors.noConnection };
  }
}
