import { call } from "../api/http";
import type { Maintenance, MaintenancePlan } from "../api/values";

export interface MaintenanceRequest {
  readonly resource_type: string;
  readonly resources?: readonly string[];
  readonly filter?: string;
  readonly start_date?: string;
  readonly end_date?: string | null;
  readonly reason?: string;
  readonly leave_pool?: boolean;
}

export async function listMaintenances(): Promise<Maintenance[]> {
  return (await call<{ maintenances: Maintenance[] }>("maintenance")).value.maintenances;
}

export async function getMaintenance(id: string): Promise<MaintenancePlan> {
  return (await call<{ maintenance: MaintenancePlan }>(`maintenance/${id}`)).value.maintenance;
}

/** Return which leases would move and which would stay, without any effect. */
export async function previewMaintenance(body: MaintenanceRequest): Promise<MaintenancePlan> {
  const options = { method: "POST", query: { dry_run: "true" }, body, repeatable: true } as const;
  return (await call<{ maintenance: MaintenancePlan }>("maintenance", options)).value.maintenance;
}

export async function createMaintenance(body: MaintenanceRequest): Promise<void> {
  await call("maintenance", { method: "POST", body });
}

export async function endMaintenance(id: string): Promise<void> {
  await call(`maintenance/${id}`, { method: "DELETE" });
}
