import { call } from "../api/http";
import { isOperator } from "../page/place";

/** Learn whether the user is an operator; by default, only operators read maintenance. */
export async function readAccess(): Promise<void> {
  try {
    await call("maintenance");
    isOperator.value = true;
  } catch {
    // Refused: a lessee, who has the other parts of the page.
  }
}
