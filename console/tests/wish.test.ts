import { describe, expect, it } from "vitest";
import type { Property, ResourceType } from "../src/api/values";
import { en } from "../src/messages/en";
import { condition } from "../src/search/catalogue";
import { fieldsOf, needsChoices } from "../src/search/fields";
import { countedReservation, isUnderstood, searchBody, understand, type Wish } from "../src/search/wish";
import { fromApi } from "../src/time/instant";

const NOW = fromApi("2031-04-03 07:20");

const WHOLE: ResourceType = {
  resource_type: "whole:thing",
  keys: ["min", "max", "fact_properties", "resource_properties", "before_end"],
  schema: null,
  unit: "thing",
  unit_keys: [],
  has_count: true,
  choices: null,
  end_texts: [],
  reservable: 8,
};
const PARTS: ResourceType = {
  resource_type: "part:thing",
  keys: ["vcpus", "template_id", "network_id", "amount", "affinity", "label", "resource_properties"],
  schema: null,
  unit: "part",
  unit_keys: ["vcpus", "template_id"],
  has_count: true,
  choices: null,
  end_texts: [],
  reservable: 8,
};
const NETWORK: Property = {
  property: "network_id",
  resource_types: ["part:thing"],
  built_in: true,
  private: false,
  values: [{ value: "n-1", reservable: 4 }],
};
const WISH: Wish = {
  resourceType: "whole:thing",
  property: null,
  count: "3",
  duration: "4 h",
  earliest: "now",
  latest: "Sunday",
  placement: "",
  fewer: true,
  requirement: "",
  own: {},
};

function meaning(change: Partial<Wish>, type = WHOLE, properties: Property[] = []) {
  return understand({ ...WISH, ...change }, { type, properties, now: NOW, zone: "UTC", weekdays: [], texts: en.search });
}

function understood(change: Partial<Wish>, type = WHOLE, properties: Property[] = []) {
  const found = meaning(change, type, properties);
  if (!isUnderstood(found)) throw new Error(JSON.stringify(found));
  return found;
}

describe("a wish", () => {
  it("has no number if the type has none", () => {
    const found = understood({ count: "none" }, { ...WHOLE, keys: null, has_count: false });

    expect(searchBody(found, true, 5)["reservations"]).toEqual([{ resource_type: "whole:thing" }]);
    expect(countedReservation(found, { ...WHOLE, keys: null })).toEqual({ resource_type: "whole:thing" });
  });

  it("becomes the body of a search, first for the whole number and then for fewer", () => {
    const found = understood({ property: { name: "rack", value: "r1" }, requirement: "vcpus>=8", placement: "same:rack" });

    const reservation = {
      resource_type: "whole:thing",
      resource_properties: "rack=r1, vcpus>=8",
      fact_properties: "",
      same: "rack",
    };
    expect(searchBody(found, true, 5)).toEqual({
      earliest_start: "now",
      latest_end: "2031-04-07 00:00",
      duration_minutes: 240,
      limit: 5,
      shapes: [
        { reservations: [{ ...reservation, count: { least: 3, most: 3 } }] },
        { reservations: [{ ...reservation, count: { least: 1, most: 3 } }] },
      ],
    });
    expect(searchBody(found, false, 5)["reservations"]).toEqual([{ ...reservation, count: { least: 3, most: 3 } }]);
  });

  it("has the type's own keys, with numbers as numbers", () => {
    const own = { vcpus: "4", template_id: "42", affinity: "apart", label: "" };
    expect(understood({ own }, PARTS, [NETWORK]).reservation).toEqual({
      resource_type: "part:thing",
      vcpus: 4,
      template_id: "42",
      network_id: "n-1",
      affinity: false,
      resource_properties: "",
    });
  });

  it("has what the schema of its type requires, and the values that it names", () => {
    const type: ResourceType = {
      ...WHOLE,
      keys: null,
      schema: {
        required: ["resource_type", "size", "title", "place_id"],
        properties: {
          resource_type: { const: "whole:thing" },
          amount: { type: ["integer", "string"] },
          size: { type: ["integer", "string"] },
          spare: { type: ["integer", "null"] },
          title: { type: "string" },
          place_id: { type: "string" },
          before_end: { enum: ["", "default", "email", null] },
          affinity: { type: ["boolean", "null"] },
        },
      } as unknown as ResourceType["schema"],
    };

    expect(meaning({}, type)).toEqual({ own: en.search.badValue("size") });
    expect(meaning({ own: { size: "4" } }, type)).toEqual({ own: en.search.missing("place_id") });
    expect(meaning({ own: { size: "4", place_id: "p", spare: "few" } }, type)).toEqual({ own: en.search.badValue("spare") });
    const own = { size: "4", place_id: "p", before_end: "email", affinity: "together" };
    expect(understood({ own }, type).reservation).toEqual({
      resource_type: "whole:thing",
      size: 4,
      title: "",
      place_id: "p",
      before_end: "email",
      affinity: true,
    });
  });

  it("joins a chosen value and a requirement in JSON", () => {
    const found = understood({ property: { name: "rack", value: "r1" }, requirement: '[">=", "$vcpus", 8]' });
    expect(found.reservation["resource_properties"]).toBe('["and",["==","$rack","r1"],[">=","$vcpus",8]]');
  });

  it("is counted as the type counts", () => {
    expect(countedReservation(understood({}), WHOLE)).toMatchObject({ min: 3, max: 3 });
    const own = { vcpus: "4", template_id: "42" };
    expect(countedReservation(understood({ own }, PARTS), PARTS)).toMatchObject({ amount: 3 });
  });

  it("of a type whose keys are unknown has the keys that were entered", () => {
    const type = { ...WHOLE, keys: null };
    expect(understood({ own: { "*": '{"size": 2}' } }, type).reservation).toEqual({
      resource_type: "whole:thing",
      size: 2,
    });
    expect(meaning({ own: { "*": "[1]" } }, type)).toEqual({ own: en.search.badJson });
  });

  it.each([
    [{ count: "0" }, "count"],
    [{ count: "many" }, "count"],
    [{ duration: "long" }, "duration"],
    [{ earliest: "soon" }, "earliest"],
    [{ latest: "later" }, "latest"],
    [{ latest: "now" }, "latest"],
    [{ earliest: "Sunday 23:00", latest: "Sunday" }, "latest"],
  ])("with %j has a mistake in %s", (change, field) => {
    expect(Object.keys(meaning(change as Partial<Wish>))).toEqual([field]);
  });

  it("without the size of a unit has a mistake", () => {
    expect(meaning({ own: { template_id: "1" } }, PARTS)).toEqual({ own: en.search.badValue("vcpus") });
    expect(meaning({ own: { vcpus: "1" } }, PARTS)).toEqual({ own: en.search.missing("template_id") });
  });
});

describe("objects of the cloud", () => {
  const flavors = [
    { id: "f-1", name: "small", vcpus: 1, disk_gb: 10 },
    { id: "f-2", name: "large" },
  ];
  const listing = { ...PARTS, choices: { template_id: flavors } };

  it("are chosen by name if the service lists them", () => {
    const field = fieldsOf(listing, [NETWORK])?.find((each) => each.key === "template_id");
    expect(field).toMatchObject({ kind: "choice", values: ["f-1", "f-2"] });
    expect(field).toMatchObject({ labels: ["small (vcpus 1, disk_gb 10)", "large"] });
  });

  it("are in the request with their ids, the first one by default", () => {
    const chosen = (own: Wish["own"]) => understood({ own: { vcpus: "1", ...own } }, listing, [NETWORK]).reservation;
    expect(chosen({})["template_id"]).toBe("f-1");
    expect(chosen({ template_id: "f-2" })["template_id"]).toBe("f-2");
  });

  it("are entered as ids if the service lists none", () => {
    for (const choices of [null, {}, { template_id: [] }]) {
      const field = fieldsOf({ ...PARTS, choices }, [NETWORK])?.find((each) => each.key === "template_id");
      expect(field?.kind).toBe("text");
    }
  });

  it("are asked for only if a request needs an id", () => {
    expect([needsChoices(PARTS, [NETWORK]), needsChoices(listing, [NETWORK])]).toEqual([true, true]);
    expect(needsChoices(WHOLE, [])).toBe(false);
  });
});

describe("a condition", () => {
  it("quotes values that the short form could not tell apart", () => {
    expect(condition("gpu", "a100")).toBe("gpu=a100");
    expect(condition("model", "A100, 80 GB")).toBe('model="A100, 80 GB"');
    expect(condition("model", 'x"y')).toBe('model="x\\"y"');
    expect(condition("gpu", null)).toBe("!gpu");
  });
});
