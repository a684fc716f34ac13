// Reads feeds with feedsmith and tells their entries as JSON.
import { readFileSync } from "node:fs";
import { parseAtomFeed, parseJsonFeed, parseRssFeed } from "feedsmith";

const read = {
  atom: (text) =>
    parseAtomFeed(text).entries.map((each) => ({
      id: each.id,
      title: each.title?.value ?? "",
      link: each.links[0].href,
      html: each.content?.value ?? "",
      tags: (each.categories ?? []).map((category) => category.term),
      moment: each.updated,
    })),
  rss: (text) =>
    parseRssFeed(text).items.map((each) => ({
      id: each.guid.value,
      title: each.title ?? "",
      link: each.link,
      html: each.description ?? "",
      tags: (each.categories ?? []).map((category) => category.name),
      moment: new Date(each.pubDate).toISOString(),
    })),
  json: (text) =>
    parseJsonFeed(text).items.map((each) => ({
      id: each.id,
      title: each.title ?? "",
      link: each.url,
      html: each.content_html ?? "",
      tags: each.tags ?? [],
      moment: each.date_modified,
    })),
};

const told = process.argv.slice(2).map((file) => read[file.split(".").pop()](readFileSync(file, "utf8")));
process.stdout.write(JSON.stringify(told));
