import type { Connect, Plugin } from "vite";

const SESSION = {
  user: { id: "admin", name: "admin" },
  project: { id: "admin", name: "admin" },
  roles: ["admin"],
  projects: [{ id: "admin", name: "admin" }],
  expires_at: null,
  can_sign_out: false,
  region: null,
};

// As the service sends it with the page.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
].join("; ");

const answerSession: Connect.NextHandleFunction = (_request, response) => {
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(SESSION));
};

/**
 * Answer `session` as the service does with `auth_strategy = noauth`.
 *
 * For `vite` and `vite preview` only. The preview also has the service's content security policy; the development
 * server cannot, because it injects styles.
 */
export function sessionWithoutSignIn(): Plugin {
  return {
    name: "session-without-sign-in",
    configureServer(server) {
      server.middlewares.use("/session", answerSession);
    },
    configurePreviewServer(server) {
      server.middlewares.use((_request, response, next) => {
        response.setHeader("Content-Security-Policy", POLICY);
        next();
      });
      server.middlewares.use("/session", answerSession);
    },
  };
}
