import { t } from "../messages";
import { unitOf } from "./catalogue";

/** Return `2 × host`, for each of some reservations. */
export function amountsText(reservations: ReadonlyArray<{ resource_type: string; amount: number }>): string {
  return reservations.map((each) => t.leases.amountOf(each.amount, unitOf(each.resource_type))).join(", ");
}
