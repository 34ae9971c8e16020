import { call } from "./http";
import type { Feed, FeedCreate, NewFeed, NewSubscription, Subscription, SubscriptionCreate, SubscriptionUpdate } from "./values";

export async function listFeeds(): Promise<Feed[]> {
  return (await call<{ feeds: Feed[] }>("feeds")).value.feeds;
}

/** Create a feed. Its address is only in this answer. */
export async function createFeed(body: FeedCreate): Promise<NewFeed> {
  return (await call<{ feed: NewFeed }>("feeds", { method: "POST", body })).value.feed;
}

export async function deleteFeed(id: string): Promise<void> {
  await call(`feeds/${encodeURIComponent(id)}`, { method: "DELETE", repeatable: true });
}

export async function listSubscriptions(): Promise<Subscription[]> {
  return (await call<{ subscriptions: Subscription[] }>("subscriptions")).value.subscriptions;
}

/** Create a subscription. The secret of a webhook is only in this answer. */
export async function createSubscription(body: SubscriptionCreate): Promise<NewSubscription> {
  return (await call<{ subscription: NewSubscription }>("subscriptions", { method: "POST", body })).value.subscription;
}

export async function changeSubscription(id: string, body: SubscriptionUpdate): Promise<void> {
  await call(`subscriptions/${encodeURIComponent(id)}`, { method: "PUT", body });
}

export async function deleteSubscription(id: string): Promise<void> {
  await call(`subscriptions/${encodeURIComponent(id)}`, { method: "DELETE", repeatable: true });
}

/** Send a test message to the subscriber. */
export async function testSubscription(id: string): Promise<void> {
  await call(`subscriptions/${encodeURIComponent(id)}/test`, { method: "POST" });
}
