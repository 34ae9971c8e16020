import type { components } from "./schema";

type Schemas = components["schemas"];

export type Progress = Schemas["Progress"];
export type Reservation = Schemas["Reservation"] & Progress & Readonly<Record<string, unknown>>;
export type Lease = Omit<Schemas["Lease"], "reservations"> & Progress & { readonly reservations: Reservation[] };
export type Catalogue = Schemas["Catalogue"];
export type ResourceType = Catalogue["resource_types"][number];
export type Collection = Catalogue["collections"][number];
export type Property = Catalogue["properties"][number];
export type Quota = Catalogue["limits"]["quotas"][number];
export type TimeSlots = Schemas["TimeSlots"];
export type TimeSlot = TimeSlots["slots"][number];
export type PossibleChanges = Schemas["PossibleChanges"];
export type LeasePreview = Schemas["LeasePreview"];
export type Offer = Schemas["Offer"];
export type ReservationResources = Schemas["ReservationResources"];
export type HistoryEntry = Schemas["HistoryEntry"];
export type FreeAmounts = Schemas["FreeAmounts"];
export type Timeline = Schemas["Timeline"];
export type Alternative = Schemas["RefusedLease"]["alternatives"][number];
export type Reason = Schemas["RefusedLease"]["reasons"][number];
export type Maintenance = Schemas["Maintenance"];
export type MaintenancePlan = Schemas["MaintenancePlan"];
export type Usage = Schemas["Usage"];
export type Feed = Schemas["Feed"];
export type FeedCreate = Schemas["FeedCreate"];
export type NewFeed = Schemas["NewFeed"];
export type Subscription = Schemas["Subscription"];
export type SubscriptionCreate = Schemas["SubscriptionCreate"];
export type SubscriptionUpdate = Schemas["SubscriptionUpdate"];
export type NewSubscription = Schemas["SubscriptionWithSecret"];

export type Value = string | number | boolean | null;

/** A reservation in a request; its keys depend on its resource type. */
export type ReservationRequest = Readonly<{ resource_type: string } & Record<string, unknown>>;

/** The keys of a request for a lease. */
export interface LeaseRequest {
  readonly name?: string;
  readonly start_date: string;
  readonly end_date: string;
  readonly before_end_date?: string | null;
  readonly reservations: readonly ReservationRequest[];
}

/** The keys of a change of a lease. */
export interface LeaseChange {
  readonly name?: string;
  readonly start_date?: string;
  readonly end_date?: string;
  readonly before_end_date?: string | null;
  readonly reservations?: ReadonlyArray<Readonly<Record<string, unknown>>>;
}
