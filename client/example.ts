import { openClient } from './client.ts';
import { openFolder } from './file-store.ts';
import { pause } from './send.ts';

// A client that records its member's events. Kill it whenever you like and start it again: no event
// is lost, none is recorded twice.
const [baseUrl = 'http://localhost:3000', path = '.agent', ...flags] = process.argv.slice(2);

const folder = openFolder(path);
const identity = folder.identity(`agent_${crypto.randomUUID().slice(0, 8)}`);
const client = openClient({
  baseUrl,
  identity,
  keeper: folder.keeper,
  pause(milliseconds, signal) {
    if (milliseconds >= 5000)
      console.error(`Asked to come back in ${Math.ceil(milliseconds / 1000)} seconds: waiting`);
    return pause(milliseconds, signal);
  },
});

const saved = folder.pages();
if (saved.length === 0) await client.register();

const events = client.updates({
  cursor: saved.at(-1)?.cursor,
  save: folder.savePage,
  limit: Number(flags.find((flag) => /^--limit=\d+$/.test(flag))?.slice(8) ?? 100),
  untilNow: flags.includes('--until-now'),
});
for await (const { sequence, type, subject } of events)
  console.log(`${sequence} ${type} ${subject.type} ${subject.id}`);
