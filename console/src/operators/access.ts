import { call } from "../api/http";
import { Refused } from "../api/problem";
import { isOperator } from "../page/place";

// The first one that is served decides.
const PROBES = [
  { path: "os-hosts", query: { limit: "1" } },
  { path: "maintenance", query: {} },
];

/** Learn whether the service lets the user read what operators read. */
export async function readAccess(): Promise<void> {
  for (const { path, query } of PROBES) {
    try {
      await call(path, { query });
      isOperator.value = true;
      return;
    } catch (problem) {
      if (!(problem instanceof Refused) || problem.status !== 404) return;
    }
  }
}
