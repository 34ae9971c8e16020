// Print the size of the bundle as it is sent, compressed; fail above the limit.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const LIMIT_KB = 400;
const folder = process.argv[2] ?? join(import.meta.dirname, "../../src/blazar/ui/bundle");

const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((each) => each.isFile() && /\.(html|js|css|svg|woff2)$/.test(each.name))
  .map((each) => join(each.parentPath, each.name))
  .sort();

let total = 0;
for (const file of files) {
  const size = gzipSync(readFileSync(file), { level: 9 }).length;
  total += size;
  console.log(`${(size / 1000).toFixed(1).padStart(8)} kB  ${file.slice(folder.length + 1)}`);
}
console.log(`${(total / 1000).toFixed(1).padStart(8)} kB  of at most ${LIMIT_KB} kB, compressed`);
process.exit(total > LIMIT_KB * 1000 ? 1 : 0);
