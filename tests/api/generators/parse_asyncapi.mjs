// What AsyncAPI's own parser reads in a document: the operations, and the codes of all that it says.
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

const { document, diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
const operations = document?.allOperations().all().map((one) => one.id()) ?? [];
console.log(JSON.stringify([operations.sort(), diagnostics.map((one) => String(one.code))]));
