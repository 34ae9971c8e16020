import { afterEach, expect, it } from "vitest";
import { catalogue, condition, pageSize } from "../src/search/catalogue";
import type { Catalogue } from "../src/api/values";

afterEach(() => {
  catalogue.value = null;
});

it("asks for no more leases than the site has on a page", () => {
  catalogue.value = { longest_page: 20 } as Catalogue;

  expect([pageSize(500), pageSize(10)]).toEqual(["20", "10"]);
});

it("leaves the size of pages to the service as long as it is unknown", () => {
  expect(pageSize(500)).toBeUndefined();
});

it("quotes values that would end a condition or read as an operator", () => {
  expect(condition("rack", "r1 or r2")).toBe('rack="r1 or r2"');
  expect(condition("rack", "oregon")).toBe("rack=oregon");
});
