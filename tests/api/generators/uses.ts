// What a program does with the types of our description. It is compiled, not run.
import type { components, paths, webhooks } from "./types";

type Schemas = components["schemas"];

export const smallest: Schemas["NewSource"] = { url: "https://shop.example/prices" };
export const alert: Schemas["NewAlert"] = { filter_query: "price" };
export const destination: Schemas["NewDestination"] = { url: "https://hooks.example/in" };
export const patch: Schemas["SourcePatch"] = { schedule: null };
export const some: Schemas["ReplayRequest"] = { ids: ["019db0a4-6a10-7000-8000-0000000000a7"] };
export const since: Schemas["ReplayRequest"] = { since: "019db0a4-6a10-7000-8000-0000000000a7" };

// @ts-expect-error a source has an address
export const nothing: Schemas["NewSource"] = {};

type Sources = paths["/v1/sources"]["get"]["responses"][200]["content"]["application/json"];

export function worst(sources: Sources): string {
  const [first] = sources;
  return first === undefined ? "" : `${first.url}: ${first.health.score.toFixed(2)}`;
}

type Delivered = webhooks["event"]["post"]["requestBody"] extends { content: infer Content } | undefined
  ? Content extends { "application/json": infer Body }
    ? Body
    : never
  : never;

export function told(event: Delivered): string {
  return `${event.title} ${event.diff?.added.join(" ") ?? ""}`;
}

export function spans(change: Schemas["Change"]): number {
  return (change.spans?.before ?? []).reduce((length, [from, to]) => length + to - from, 0);
}
